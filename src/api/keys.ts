import { Hono } from 'hono';
import * as z from 'zod';
import { boundedArray } from '../bounded-array.ts';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { SCOPES, type Scope } from './principal.ts';
import { listBody, listSchema, pageQuery, plainText, successBody } from './schemas.ts';
import { jsonBody, validateQuery } from './validate.ts';

const DEFAULT_SCOPES: Scope[] = ['chat', 'read:skills', 'execute:skills'];

export const createKeyBody = z.strictObject({
  name: plainText(100).trim().min(1),
  scopes: boundedArray(z.enum(SCOPES), 50)
    .refine((names) => names.length > 0, 'Name at least one scope')
    .default(DEFAULT_SCOPES)
    .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope))),
  routingMemory: z.boolean().default(false),
});
export const updateKeyBody = z.strictObject({ routingMemory: z.boolean() });
export const listKeysQuery = z.strictObject(pageQuery);

const scopes = z.array(z.enum(SCOPES));
const routingMemory = z.boolean().meta({ description: 'Whether the outcomes of its requests are remembered, for `memory_aware_routing`' });
const keyBody = z.strictObject({ id: z.string(), name: z.string(), scopes, routingMemory, createdAt: z.string() }).meta({ id: 'ApiKey' });
const newKeyBody = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes,
    routingMemory,
    key: z.string().meta({ description: 'The key itself, never shown again' }),
  })
  .meta({ id: 'NewApiKey' });

const describe = {
  list: describeRoute({ tag: 'Management', summary: 'API keys, oldest first', answers: { 200: listSchema(keyBody) } }),
  create: describeRoute({ tag: 'Management', summary: 'Make an API key', answers: { 201: newKeyBody } }),
  update: describeRoute({
    tag: 'Management',
    summary: 'Change whether the outcomes of an API key’s requests are remembered',
    description: 'Holds at once here, within a minute everywhere. What was remembered goes when it is switched off.',
    answers: { 200: keyBody },
    errors: ['key_not_found'],
  }),
  remove: describeRoute({
    tag: 'Management',
    summary: 'Delete an API key',
    description: 'It stops working at once here, within a minute everywhere.',
    answers: { 200: successBody },
    errors: ['key_not_found'],
  }),
};

export const keys = new Hono<AppEnv>()
  .get('/', describe.list, requireManagement, validateQuery(listKeysQuery), async (c) => {
    const { page, limit } = c.req.valid('query');
    const all = await c.var.services.apiKeys.list();
    return c.json(listBody(all.slice((page - 1) * limit, page * limit), all.length, { page, limit }));
  })
  .post('/', describe.create, requireManagement, jsonBody(createKeyBody), async (c) => {
    const { id, name, scopes, routingMemory, key } = await c.var.services.apiKeys.create(c.req.valid('json'));
    c.header('cache-control', 'no-store');
    return c.json({ id, name, scopes, routingMemory, key }, 201);
  })
  .put('/:id', describe.update, requireManagement, jsonBody(updateKeyBody), async (c) => {
    const id = c.req.param('id');
    const key = await c.var.services.apiKeys.setRoutingMemory(id, c.req.valid('json').routingMemory);
    if (key === undefined) throw new AppError('key_not_found', `No API key with id ${id}`);
    return c.json(key);
  })
  .delete('/:id', describe.remove, requireManagement, async (c) => {
    const id = c.req.param('id');
    if (!(await c.var.services.apiKeys.delete(id))) throw new AppError('key_not_found', `No API key with id ${id}`);
    return c.json({ success: true });
  });
