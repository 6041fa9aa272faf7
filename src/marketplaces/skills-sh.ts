import * as z from 'zod';
import { MARKETPLACE_TITLES, type Marketplace } from './marketplace.ts';
import { listOf, optionalCount, searchMarketplace } from './search-marketplace.ts';

const listing = z.object({
  id: z.string(),
  skillId: z.string(),
  name: z.string(),
  installs: optionalCount,
  /** `owner/repository` on GitHub. */
  source: z.string(),
});

export type SkillsShListing = z.output<typeof listing>;

/** `count` is that of this answer: there are no further pages. */
const answer = z.object({ skills: listOf(listing) });

/** The search of skills.sh: `GET /api/search?q=&limit=`. It has no pages: the first holds what there is. */
export function createSkillsSh(options: { fetch: typeof fetch; baseUrl: string; timeoutMs: number }): Marketplace<SkillsShListing> {
  const { fetch, baseUrl, timeoutMs } = options;
  return {
    async search({ q, limit }) {
      const url = `${baseUrl}/api/search?${new URLSearchParams({ q, limit: String(limit) })}`;
      const found = await searchMarketplace(fetch, answer, { title: MARKETPLACE_TITLES.skillssh, url, timeoutMs });
      const skills = found.skills.slice(0, limit);
      return { skills, total: skills.length };
    },
  };
}
