import { Hono } from 'hono';
import * as z from 'zod';
import { boundedArray } from '../bounded-array.ts';
import { AppError } from '../errors.ts';
import { MARKETPLACES } from '../marketplaces/marketplace.ts';
import { popularDefaults } from '../marketplaces/popular-skills.ts';
import type { Services } from '../services.ts';
import { SKILL_MODES, SKILL_POLICIES, type Skill, SOURCE_PROVIDERS, SYSTEM_OWNER, skillName, skillVersion } from '../skills/skill.ts';
import { normalizeSkillSchema } from '../skills/skill-schema.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { idText, jsonObject, listBody, listSchema, pageQuery, plainText, successBody } from './schemas.ts';
import { skillBody } from './skill-body.ts';
import { jsonBody, validateQuery } from './validate.ts';

const MAX_INSTRUCTIONS_CHARS = 262_144;

const description = plainText(4_000).trim().min(1);
const tags = boundedArray(plainText(64).trim().min(1), 50);
/** `normalizeSkillSchema` tells which faults it has. */
const schema = jsonObject.meta({
  description: '`{input, output}`, each JSON Schema (2020-12) or its shorthand, such as `{"text": "string"}`',
});

export const listSkillsQuery = z.strictObject({
  ...pageQuery,
  q: plainText(500).optional().meta({ description: 'Part of a name, description or tag; case and accents do not matter' }),
  mode: z.enum(SKILL_MODES).optional(),
  source: z.enum(SOURCE_PROVIDERS).optional(),
});

export const installSkillBody = z
  .strictObject({
    name: skillName,
    version: skillVersion.default('1.0.0'),
    description,
    schema,
    handlerCode: plainText(200).min(1).optional().meta({ description: 'The name of a webhook, or of a function of this release' }),
    instructions: plainText(MAX_INSTRUCTIONS_CHARS)
      .trim()
      .min(1)
      .optional()
      .meta({ description: 'Instead of a handler: Markdown that the model is given to follow' }),
    apiKeyId: idText.default(SYSTEM_OWNER).meta({ description: 'Whose it will be; `system`: everybody’s' }),
    tags: tags.default([]),
    mode: z.enum(SKILL_MODES).default('on'),
    idempotent: z.boolean().default(false),
  })
  .refine(({ handlerCode, instructions }) => (handlerCode === undefined) !== (instructions === undefined), {
    path: ['handlerCode'],
    error: 'Give either handlerCode or instructions',
  });

export const updateSkillBody = z
  .strictObject({
    enabled: z.boolean(),
    mode: z.enum(SKILL_MODES),
    policy: z.enum(SKILL_POLICIES),
    /** Null: the executor's own. */
    timeoutMs: z.int().min(1).max(600_000).nullable(),
    maxRetries: z.int().min(0).max(10).nullable(),
    /** Whether a call may be repeated when it failed half-way. */
    idempotent: z.boolean(),
    description,
    schema,
    tags,
  })
  .partial();

/** What a release says of its own skills, so that a change of it would not last. */
const PRODUCT_FIELDS = ['description', 'schema', 'tags', 'timeoutMs', 'idempotent'] as const;

const describe = {
  list: describeRoute({
    tag: 'Skills',
    summary: 'Skills of every owner',
    answers: {
      200: listSchema(skillBody, {
        skills: z.array(skillBody).meta({ description: 'The same as `data`' }),
        provider: z.enum(MARKETPLACES),
        popularDefaults: z.array(jsonObject).meta({ description: 'What that marketplace shows before a search' }),
      }),
    },
  }),
  install: describeRoute({
    tag: 'Skills',
    summary: 'Install a custom skill',
    description: 'On a handler, or with instructions of its own.',
    answers: { 201: z.strictObject({ success: z.literal(true), id: z.string() }) },
    errors: ['unknown_handler', 'skill_exists'],
  }),
  read: describeRoute({ tag: 'Skills', summary: 'One skill', answers: { 200: skillBody }, errors: ['skill_not_found'] }),
  change: describeRoute({
    tag: 'Skills',
    summary: 'Change a skill',
    description:
      'Names only what changes, and answers it. Of a built-in skill `mode`, `enabled`, `policy` and `maxRetries` can change. `mode` wins over `enabled`.',
    answers: { 200: updateSkillBody.extend({ success: z.literal(true) }) },
    errors: ['skill_not_found'],
  }),
  remove: describeRoute({
    tag: 'Skills',
    summary: 'Delete a skill',
    description: 'Its executions stay.',
    answers: { 200: successBody },
    errors: ['invalid_request', 'skill_not_found'],
  }),
};

const notFound = (id: string) => new AppError('skill_not_found', `No skill with id ${id}`);

function requireChangeable(skill: Skill, body: z.infer<typeof updateSkillBody>): void {
  const field = PRODUCT_FIELDS.find((name) => body[name] !== undefined);
  if (skill.kind !== 'builtin' || field === undefined) return;
  throw new AppError('invalid_request', `${field}: the ${field} of a built-in skill cannot be changed`);
}

async function requireHandler({ handlerNames, webhooks }: Services, name: string): Promise<void> {
  const names = [...handlerNames(), ...(await webhooks.listNames())];
  if (names.includes(name)) return;
  throw new AppError('unknown_handler', `No handler ${name}. Use one of: ${names.join(', ')}`, names);
}

export const skills = new Hono<AppEnv>()
  .get('/', describe.list, requireManagement, validateQuery(listSkillsQuery), async (c) => {
    const { page, limit, ...filter } = c.req.valid('query');
    const { skills, settings } = c.var.services;
    const [{ data, total }, { skillsProvider }] = await Promise.all([
      skills.listPage(filter, page, limit),
      settings.get((work) => c.executionCtx.waitUntil(work)),
    ]);
    return c.json({
      ...listBody(data, total, { page, limit }),
      skills: data,
      provider: skillsProvider,
      popularDefaults: popularDefaults(skillsProvider),
    });
  })
  .post('/install', describe.install, requireManagement, jsonBody(installSkillBody), async (c) => {
    const { handlerCode, instructions, schema, apiKeyId, ...body } = c.req.valid('json');
    const { registry, apiKeys } = c.var.services;
    if (handlerCode !== undefined) await requireHandler(c.var.services, handlerCode);
    const isKnownOwner = apiKeyId === SYSTEM_OWNER || (await apiKeys.list()).some(({ id }) => id === apiKeyId);
    if (!isKnownOwner) throw new AppError('invalid_request', `apiKeyId: no API key with id ${apiKeyId}`);
    const { id } = await registry.install({
      ...body,
      apiKeyId,
      schema: normalizeSkillSchema(schema),
      ...(instructions === undefined ? { handler: handlerCode ?? '', kind: 'handler' } : { handler: instructions, kind: 'instructions' }),
      ...{ policy: 'auto', sourceProvider: 'local', sourceUrl: null, contentSha256: null },
      ...{ installCount: 0, timeoutMs: null, maxRetries: null, riskFindings: [] },
    });
    return c.json({ success: true, id }, 201);
  })
  .get('/:id', describe.read, requireManagement, async (c) => {
    const id = c.req.param('id');
    const skill = await c.var.services.skills.get(id);
    if (skill === undefined) throw notFound(id);
    return c.json(skill);
  })
  .put('/:id', describe.change, requireManagement, jsonBody(updateSkillBody), async (c) => {
    const id = c.req.param('id');
    const body = c.req.valid('json');
    const { registry, skills } = c.var.services;
    if (Object.keys(body).length === 0) throw new AppError('invalid_request', 'No update payload provided');
    const skill = await skills.get(id);
    if (skill === undefined) throw notFound(id);
    requireChangeable(skill, body);
    const { schema, ...rest } = body;
    const changed = await registry.update(id, { ...rest, ...(schema && { schema: normalizeSkillSchema(schema) }) });
    if (changed === undefined) throw notFound(id);
    return c.json({ success: true, ...body });
  })
  .delete('/:id', describe.remove, requireManagement, async (c) => {
    const id = c.req.param('id');
    const { registry, skills } = c.var.services;
    const skill = await skills.get(id);
    if (skill?.kind === 'builtin') throw new AppError('invalid_request', 'A built-in skill cannot be deleted; switch it off instead');
    if (!(await registry.remove(id))) throw notFound(id);
    return c.json({ success: true });
  });
