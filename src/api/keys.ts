import { Hono } from 'hono';
import * as z from 'zod';
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
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .default(DEFAULT_SCOPES)
    .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope))),
});
export const listKeysQuery = z.strictObject(pageQuery);

const scopes = z.array(z.enum(SCOPES));
const keyBody = z.strictObject({ id: z.string(), name: z.string(), scopes, createdAt: z.string() }).meta({ id: 'ApiKey' });
const newKeyBody = z
  .strictObject({ id: z.string(), name: z.string(), scopes, key: z.string().meta({ description: 'The key itself, never shown again' }) })
  .meta({ id: 'NewApiKey' });

const describe = {
  list: describeRoute({ tag: 'Management', summary: 'API keys, oldest first', answers: { 200: listSchema(keyBody) } }),
  create: describeRoute({ tag: 'Management', summary: 'Make an API key', answers: { 201: newKeyBody } }),
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
    const { id, name, scopes, key } = await c.var.services.apiKeys.create(c.req.valid('json'));
    c.header('cache-control', 'no-store');
    return c.json({ id, name, scopes, key }, 201);
  })
  .delete('/:id', describe.remove, requireManagement, async (c) => {
    const id = c.req.param('id');
    if (!(await c.var.services.apiKeys.delete(id))) throw new AppError('key_not_found', `No API key with id ${id}`);
    return c.json({ success: true });
  });
