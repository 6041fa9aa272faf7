import type { SourceProvider } from '../skills/skill.ts';

export const MARKETPLACES = ['skillsmp', 'skillssh'] as const satisfies readonly SourceProvider[];
export type MarketplaceName = (typeof MARKETPLACES)[number];

export const MARKETPLACE_TITLES: Record<MarketplaceName, string> = { skillsmp: 'SkillsMP', skillssh: 'skills.sh' };

/** Longest time that a search, or the reading of one SKILL.md, may take. */
export const MARKETPLACE_TIMEOUT_MS = 15_000;
/** Most that is read of an answer, and of a SKILL.md. */
export const MAX_MARKETPLACE_BYTES = 262_144;

export interface MarketplaceQuery {
  /** Empty for the popular skills. */
  q: string;
  /** Counted from 1. */
  page: number;
  limit: number;
  sortBy?: 'stars' | 'recent' | undefined;
}

/** One page of what a marketplace has found, and how many there are in all. */
export interface MarketplacePage<Listing> {
  skills: Listing[];
  total: number;
}

/** A place where skills are found. What it lists can be handed to `install` as it is. */
export interface Marketplace<Listing> {
  /** Rejects with an AppError: see `askMarketplace` for its codes, and `marketplace_key_missing`. */
  search(query: MarketplaceQuery): Promise<MarketplacePage<Listing>>;
}
