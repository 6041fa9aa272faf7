import { Hono } from 'hono';
import * as z from 'zod';
import type { MarketplaceName, MarketplacePage } from '../marketplaces/marketplace.ts';
import { MAX_COUNT } from '../marketplaces/search-marketplace.ts';
import { type Skill, SYSTEM_OWNER } from '../skills/skill.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { isManagement, ownerOf, type Principal } from './principal.ts';
import { listBody, pageQuery, plainText, wholeNumber } from './schemas.ts';
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

/** Whose the skill will be. The management installs for everybody. */
const ownerFor = (principal: Principal): string => (isManagement(principal) ? SYSTEM_OWNER : ownerOf(principal));

const searchBody = <Listing>(found: MarketplacePage<Listing>, page: { page: number; limit: number }, provider: MarketplaceName) => ({
  ...listBody(found.skills, found.total, page),
  skills: found.skills,
  provider,
});

const installBody = ({ id, name, version, riskFindings }: Skill) => ({ success: true, id, name, version, riskFindings });

export const skillsMpMarketplace = new Hono<AppEnv>()
  .get('/', requireScope('read:skills'), validateQuery(searchSkillsMpQuery), async (c) => {
    const query = c.req.valid('query');
    return c.json(searchBody(await c.var.services.marketplaces.searchSkillsMp(query), query, 'skillsmp'));
  })
  .post('/install', requireScope('write:skills'), jsonBody(installFromSkillsMpBody), async (c) => {
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
  .get('/', requireScope('read:skills'), validateQuery(searchSkillsShQuery), async (c) => {
    const query = { ...c.req.valid('query'), page: 1 };
    return c.json(searchBody(await c.var.services.marketplaces.searchSkillsSh(query), query, 'skillssh'));
  })
  .post('/install', requireScope('write:skills'), jsonBody(installFromSkillsShBody), async (c) => {
    const { source, skillId, installs } = c.req.valid('json');
    const skill = await c.var.services.marketplaces.installFromSkillsSh({
      source,
      skillId,
      installCount: installs ?? 0,
      owner: ownerFor(c.var.principal),
    });
    return c.json(installBody(skill), 201);
  });
