import { type Context, Hono } from 'hono';
import { etag } from 'hono/etag';
import {
  agentSkillCoverageSchema,
  agentSkillFilterSchema,
  agentSkillListSchema,
  agentSkillSchema,
  agentSkillTextSchema,
} from '../agent-skills/agent-skill.ts';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';
import { describeRoute } from './describe-route.ts';
import { validateQuery } from './validate.ts';

/** They change with a release alone; whoever keeps one asks again after five minutes and is mostly told that it is the same. */
const CACHE_CONTROL = 'public, max-age=300';

const listedSkill = agentSkillSchema.meta({ id: 'AgentSkill' });
const coverageBody = agentSkillCoverageSchema.meta({ id: 'AgentSkillCoverage' });
const UNCHANGED = { 304: { description: 'What `if-none-match` names', content: {} } };

const describe = {
  list: describeRoute({
    tag: 'Agent Skills',
    summary: 'The texts, without their Markdown',
    answers: { 200: agentSkillListSchema.extend({ skills: listedSkill.array(), coverage: coverageBody }), ...UNCHANGED },
  }),
  coverage: describeRoute({
    tag: 'Agent Skills',
    summary: 'How much of the product the texts describe',
    answers: { 200: coverageBody, ...UNCHANGED },
  }),
  read: describeRoute({
    tag: 'Agent Skills',
    summary: 'One text',
    answers: { 200: agentSkillTextSchema.meta({ id: 'AgentSkillText' }), ...UNCHANGED },
    errors: ['skill_not_found'],
  }),
  raw: describeRoute({
    tag: 'Agent Skills',
    summary: 'The SKILL.md itself',
    answers: { 200: { content: { 'text/markdown': undefined } }, ...UNCHANGED },
    errors: ['skill_not_found'],
  }),
};

async function readSkill(c: Context<AppEnv>) {
  const id = c.req.param('id') ?? '';
  const skill = await c.var.services.agentSkills.get(id);
  if (skill === undefined) throw new AppError('skill_not_found', `No agent skill with id ${id}`);
  c.header('cache-control', CACHE_CONTROL);
  return skill;
}

/** The texts that teach agents outside how to use this product; whoever wants may read them. */
export const agentSkills = new Hono<AppEnv>()
  .use(etag())
  .get('/', describe.list, validateQuery(agentSkillFilterSchema), async (c) => {
    const list = await c.var.services.agentSkills.list(c.req.valid('query'));
    c.header('cache-control', CACHE_CONTROL);
    return c.json(list);
  })
  .get('/coverage', describe.coverage, async (c) => {
    const coverage = await c.var.services.agentSkills.coverage();
    c.header('cache-control', CACHE_CONTROL);
    return c.json(coverage);
  })
  .get('/:id', describe.read, async (c) => c.json(await readSkill(c)))
  .get('/:id/raw', describe.raw, async (c) => {
    const { markdown } = await readSkill(c);
    return c.body(markdown, 200, { 'content-type': 'text/markdown; charset=utf-8', 'x-content-type-options': 'nosniff' });
  });
