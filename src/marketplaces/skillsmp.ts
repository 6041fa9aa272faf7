import * as z from 'zod';
import { AppError } from '../errors.ts';
import { MARKETPLACE_TITLES, type Marketplace } from './marketplace.ts';
import { listOf, optionalCount, optionalText, searchMarketplace } from './search-marketplace.ts';

const listing = z.object({
  id: z.string(),
  name: z.string(),
  author: optionalText,
  description: optionalText,
  githubUrl: z.string(),
  skillUrl: optionalText,
  stars: optionalCount,
  /** Seconds since 1970 or ISO 8601, as they say it. */
  updatedAt: z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .catch(null)
    .transform((time) => time ?? null),
});

export type SkillsMpListing = z.output<typeof listing>;

const answer = z.object({
  success: z.literal(true),
  data: z.object({
    skills: listOf(listing),
    pagination: z
      .object({ total: z.int().min(0) })
      .optional()
      .catch(undefined),
  }),
});

/**
 * SkillsMP's keyword search (https://skillsmp.com/docs/api): `GET /api/v1/skills/search?q=&page=&limit=&sortBy=`. Without a key it rejects with
 * `marketplace_key_missing`.
 */
export function createSkillsMp(options: {
  fetch: typeof fetch;
  baseUrl: string;
  apiKey: string | null;
  timeoutMs: number;
}): Marketplace<SkillsMpListing> {
  const { fetch, baseUrl, apiKey, timeoutMs } = options;
  return {
    async search({ q, page, limit, sortBy }) {
      if (apiKey === null) throw new AppError('marketplace_key_missing', 'SkillsMP API key not configured. Add it in Settings > AI.');
      const query = new URLSearchParams({ q, page: String(page), limit: String(limit), ...(sortBy !== undefined && { sortBy }) });
      const url = `${baseUrl}/api/v1/skills/search?${query}`;
      const { data } = await searchMarketplace(fetch, answer, { title: MARKETPLACE_TITLES.skillsmp, url, apiKey, timeoutMs });
      const skills = data.skills.slice(0, limit);
      return { skills, total: data.pagination?.total ?? (page - 1) * limit + skills.length };
    },
  };
}
