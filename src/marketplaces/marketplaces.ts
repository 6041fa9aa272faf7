import { AppError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Registry } from '../skills/registry.ts';
import type { Skill } from '../skills/skill.ts';
import type { SkillStore } from '../skills/skill-store.ts';
import {
  MARKETPLACE_TIMEOUT_MS,
  MARKETPLACE_TITLES,
  type MarketplaceName,
  type MarketplacePage,
  type MarketplaceQuery,
} from './marketplace.ts';
import { POPULAR_SKILLSMP, POPULAR_SKILLSSH } from './popular-skills.ts';
import { locateByGithubUrl, locateSkill, type SkillLocation } from './skill-location.ts';
import { createSkillsSh, type SkillsShListing } from './skills-sh.ts';
import { createSkillsMp, type SkillsMpListing } from './skillsmp.ts';

/** What an installer says of a skill; the rest stands in its SKILL.md. */
interface Installation {
  /** Id of the API key, or `system`. */
  owner: string;
  /** Stars or installs. */
  installCount: number;
}

export interface Marketplaces {
  /** An empty `q` answers the popular skills, without network. */
  searchSkillsMp(query: MarketplaceQuery): Promise<MarketplacePage<SkillsMpListing>>;
  searchSkillsSh(query: MarketplaceQuery): Promise<MarketplacePage<SkillsShListing>>;
  /** Rejects with `marketplace_inactive` when skills are installed from the other one, and as `locateByGithubUrl` and `installSkill` do. */
  installFromSkillsMp(skill: Installation & { githubUrl: string; description: string | null }): Promise<Skill>;
  installFromSkillsSh(skill: Installation & { source: string; skillId: string }): Promise<Skill>;
}

export interface MarketplacesOptions {
  fetch: typeof fetch;
  /** As they are in the database. */
  settings(): Promise<Settings>;
  skills: Pick<SkillStore, 'listVisible'>;
  registry: Pick<Registry<unknown>, 'install'>;
  timeoutMs?: number;
}

/** `https://host/path` without a slash at its end, spelled as URLs are once they are parsed. */
const normalize = (baseUrl: string): string => new URL(baseUrl).href.replace(/\/+$/, '');

function pageOf<Listing>(listings: readonly Listing[], { page, limit }: MarketplaceQuery): MarketplacePage<Listing> {
  return { skills: listings.slice((page - 1) * limit, page * limit), total: listings.length };
}

/** The marketplaces that the settings tell of; a change of them holds at once. */
export function createMarketplaces(options: MarketplacesOptions): Marketplaces {
  const { fetch, settings, timeoutMs = MARKETPLACE_TIMEOUT_MS } = options;

  async function install(
    marketplace: MarketplaceName,
    installation: Installation & { description: string | null },
    locate: (rawBaseUrl: string) => SkillLocation,
  ): Promise<Skill> {
    const { skillsProvider, githubRawBaseUrl } = await settings();
    if (skillsProvider !== marketplace) {
      const [active, asked] = [MARKETPLACE_TITLES[skillsProvider], MARKETPLACE_TITLES[marketplace]];
      throw new AppError(
        'marketplace_inactive',
        `The active skills provider is ${active}. Change it in Settings to install from ${asked}.`,
      );
    }
    const rawBaseUrl = normalize(githubRawBaseUrl);
    const location = locate(rawBaseUrl);
    // With what reads a SKILL.md come YAML and stop words, which the start of the worker does without.
    const { installSkill } = await import('./install-skill.ts');
    return installSkill({ ...options, timeoutMs }, { marketplace, location, rawBaseUrl, ...installation });
  }

  return {
    async searchSkillsMp(query) {
      if (query.q === '') return pageOf(POPULAR_SKILLSMP, query);
      const { skillsmpBaseUrl, skillsmpApiKey: apiKey } = await settings();
      return createSkillsMp({ fetch, baseUrl: normalize(skillsmpBaseUrl), apiKey, timeoutMs }).search(query);
    },
    async searchSkillsSh(query) {
      if (query.q === '') return pageOf(POPULAR_SKILLSSH, query);
      const { skillsshBaseUrl } = await settings();
      return createSkillsSh({ fetch, baseUrl: normalize(skillsshBaseUrl), timeoutMs }).search(query);
    },
    installFromSkillsMp: ({ githubUrl, ...installation }) =>
      install('skillsmp', installation, (rawBaseUrl) => locateByGithubUrl(githubUrl, rawBaseUrl)),
    installFromSkillsSh: ({ source, skillId, ...installation }) =>
      install('skillssh', { ...installation, description: null }, (rawBaseUrl) => locateSkill(source, skillId, rawBaseUrl)),
  };
}
