import { Hono } from 'hono';
import * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { MarketplaceName, MarketplacePage } from '../marketplaces/marketplace.ts';
import { MAX_COUNT } from '../marketplaces/search-marketplace.ts';
import type { SkillsShListing } from '../marketplaces/skills-sh.ts';
import type { SkillsMpListing } from '../marketplaces/skillsmp.ts';
import { type Skill, SYSTEM_OWNER } from '../skills/skill.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { isManagement, ownerOf, type Principal } from './principal.ts';
import { listBody, listSchema, pageQuery, plainText, wholeNumber } from './schemas.ts';
import { skillBody } from './skill-body.ts';
import { jsonBody, validateQuery } from './validate.ts';

const q = plainText(500).trim().default('');
/** The marketplaces' own limit. */
const limit = wholeNumber(1, 100).default(20);
const count = z.int().min(0).max(MAX_COUNT).nullish();

export const searchSkillsMpQuery = z.strictObject({ ...pageQuery, q, limit, sortBy: z.enum(['stars', 'recent']).optional() });
export const searchSkillsShQuery = z.strictObject({ q, limit });

/** A listing of the search will do as it is: what is not named here is left aside. */
export const installFromSkillsMpBody = z.object({
  githubUrl: plainText(2_000).min(1),
  description: plainText(20_000).nullish(),
  stars: count,
});
export const installFromSkillsShBody = z.object({
  source: plainText(200).min(1),
  skillId: plainText(200).min(1),
  installs: count,
});

const skillsMpListing = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    author: z.string().nullable(),
    description: z.string().nullable(),
    githubUrl: z.string(),
    skillUrl: z.string().nullable(),
    stars: z.int().nullable(),
    updatedAt: z.string().nullable().meta({ description: 'As SkillsMP says it: seconds since 1970 or ISO 8601' }),
  } satisfies Record<keyof SkillsMpListing, z.ZodType>)
  .meta({ id: 'SkillsMpListing' });

const skillsShListing = z
  .strictObject({
    id: z.string(),
    skillId: z.string(),
    name: z.string(),
    installs: z.int().nullable(),
    source: z.string().meta({ description: '`owner/repository` on GitHub' }),
  } satisfies Record<keyof SkillsShListing, z.ZodType>)
  .meta({ id: 'SkillsShListing' });

const foundBody = <Listing extends z.ZodType, Name extends MarketplaceName>(listing: Listing, provider: Name) =>
  listSchema(listing, { skills: z.array(listing).meta({ description: 'The same as `data`' }), provider: z.literal(provider) });

const installedBody = skillBody
  .pick({ id: true, name: true, version: true, riskFindings: true })
  .extend({ success: z.literal(true) })
  .meta({ id: 'InstalledSkill' });

/** What a marketplace, or GitHub, can answer. */
const FOREIGN_ERRORS: ErrorCode[] = [
  'marketplace_unauthorized',
  'marketplace_rate_limited',
  'marketplace_failed',
  'marketplace_unreachable',
  'marketplace_timeout',
];
const INSTALL_ERRORS: ErrorCode[] = [
  'marketplace_inactive',
  'marketplace_skill_not_found',
  'skill_exists',
  'skill_too_large',
  'skill_unusable',
  ...FOREIGN_ERRORS,
];
const NOTHING_SEARCHED = 'An empty `q` answers a fixed list of well-known skills, without network.';
const INSTALLS =
  'Takes a listing of the search as it is. An API key installs for itself, the management for everybody. Changed content of an installed skill becomes a new version.';

const describe = {
  searchSkillsMp: describeRoute({
    tag: 'Marketplaces',
    summary: 'Search SkillsMP',
    description: NOTHING_SEARCHED,
    answers: { 200: foundBody(skillsMpListing, 'skillsmp') },
    errors: ['marketplace_key_missing', 'marketplace_invalid', ...FOREIGN_ERRORS],
  }),
  installFromSkillsMp: describeRoute({
    tag: 'Marketplaces',
    summary: 'Install a skill that SkillsMP lists',
    description: INSTALLS,
    answers: { 201: installedBody },
    errors: INSTALL_ERRORS,
  }),
  searchSkillsSh: describeRoute({
    tag: 'Marketplaces',
    summary: 'Search skills.sh',
    description: NOTHING_SEARCHED,
    answers: { 200: foundBody(skillsShListing, 'skillssh') },
    errors: ['marketplace_invalid', ...FOREIGN_ERRORS],
  }),
  installFromSkillsSh: describeRoute({
    tag: 'Marketplaces',
    summary: 'Install a skill that skills.sh lists',
    description: INSTALLS,
    answers: { 201: installedBody },
    errors: INSTALL_ERRORS,
  }),
};

/** Whose the skill will be. The management installs for everybody. */
const ownerFor = (principal: Principal): string => (isManagement(principal) ? SYSTEM_OWNER : ownerOf(principal));

const searchBody = <Listing>(found: MarketplacePage<Listing>, page: { page: number; limit: number }, provider: MarketplaceName) => ({
  ...listBody(found.skills, found.total, page),
  skills: found.skills,
  provider,
});

const installBody = ({ id, name, version, riskFindings }: Skill) => ({ success: true, id, name, version, riskFindings });

export const skillsMpMarketplace = new Hono<AppEnv>()
  .get('/', describe.searchSkillsMp, requireScope('read:skills'), validateQuery(searchSkillsMpQuery), async (c) => {
    const query = c.req.valid('query');
    return c.json(searchBody(await c.var.services.marketplaces.searchSkillsMp(query), query, 'skillsmp'));
  })
  .post('/install', describe.installFromSkillsMp, requireScope('write:skills'), jsonBody(installFromSkillsMpBody), async (c) => {
    const { githubUrl, description, stars } = c.req.valid('json');
    const skill = await c.var.services.marketplaces.installFromSkillsMp({
      githubUrl,
      description: description ?? null,
      installCount: stars ?? 0,
      owner: ownerFor(c.var.principal),
    });
    return c.json(installBody(skill), 201);
  });

export const skillsShMarketplace = new Hono<AppEnv>()
  .get('/', describe.searchSkillsSh, requireScope('read:skills'), validateQuery(searchSkillsShQuery), async (c) => {
    const query = { ...c.req.valid('query'), page: 1 };
    return c.json(searchBody(await c.var.services.marketplaces.searchSkillsSh(query), query, 'skillssh'));
  })
  .post('/install', describe.installFromSkillsSh, requireScope('write:skills'), jsonBody(installFromSkillsShBody), async (c) => {
    const { source, skillId, installs } = c.req.valid('json');
    const skill = await c.var.services.marketplaces.installFromSkillsSh({
      source,
      skillId,
      installCount: installs ?? 0,
      owner: ownerFor(c.var.principal),
    });
    return c.json(installBody(skill), 201);
  });
