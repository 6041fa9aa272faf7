import { Hono } from 'hono';
import * as z from 'zod';
import { AppError } from '../errors.ts';
import { checkPublicUrl } from '../net/public-url.ts';
import { skillName } from '../skills/skill.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { listBody, listSchema, pageQuery, plainText, successBody } from './schemas.ts';
import { jsonBody, validateQuery } from './validate.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** An https URL of the public internet, as far as its spelling tells; where its name leads is seen at each call. */
const endpointUrl = plainText(2_000).transform((text, context) => {
  const url = URL.parse(text);
  const fault =
    url === null || url.protocol !== 'https:'
      ? 'Use an absolute https URL'
      : url.username !== '' || url.password !== ''
        ? 'A URL must not hold a user name or password'
        : undefined;
  const checked = url === null ? undefined : checkPublicUrl(url);
  if (fault === undefined && checked !== undefined) return checked.url.href;
  context.addIssue({ code: 'custom', message: fault ?? 'Blocked private or local URL' });
  return z.NEVER;
});
const secret = plainText(256).min(32, 'Use 32 to 256 characters, for example of `openssl rand -hex 32`');
const timeoutMs = z.int().min(1).max(600_000);

export const createHandlerBody = z.strictObject({
  name: skillName,
  url: endpointUrl,
  secret,
  timeoutMs: timeoutMs.default(DEFAULT_TIMEOUT_MS),
});
/** Without a name: skills hold on to it. */
export const updateHandlerBody = z.strictObject({ url: endpointUrl, secret, timeoutMs }).partial();
export const listHandlersQuery = z.strictObject(pageQuery);

const webhookBody = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    timeoutMs: z.int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Webhook' });

const describe = {
  list: describeRoute({
    tag: 'Handlers',
    summary: 'Webhooks, and the functions of this release',
    answers: { 200: listSchema(webhookBody, { compiledIn: z.array(z.string()) }) },
  }),
  create: describeRoute({
    tag: 'Handlers',
    summary: 'Register a webhook',
    description: 'Skills name it as their `handlerCode`; their calls are signed with the secret, which is never shown.',
    answers: { 201: webhookBody },
    errors: ['handler_exists'],
  }),
  read: describeRoute({ tag: 'Handlers', summary: 'One webhook', answers: { 200: webhookBody }, errors: ['handler_not_found'] }),
  change: describeRoute({
    tag: 'Handlers',
    summary: 'Change a webhook',
    description: 'Names only what changes.',
    answers: { 200: webhookBody },
    errors: ['handler_not_found'],
  }),
  remove: describeRoute({
    tag: 'Handlers',
    summary: 'Delete a webhook that no skill names',
    answers: { 200: successBody },
    errors: ['handler_not_found', 'handler_in_use'],
  }),
};

const notFound = (id: string) => new AppError('handler_not_found', `No webhook with id ${id}`);

/** What custom skills may name as their `handlerCode`: webhooks, which are kept here, and the functions of this release. */
export const handlers = new Hono<AppEnv>()
  .get('/', describe.list, requireManagement, validateQuery(listHandlersQuery), async (c) => {
    const { page, limit } = c.req.valid('query');
    const { webhooks, handlerNames } = c.var.services;
    const { data, total } = await webhooks.listPage(page, limit);
    return c.json({ ...listBody(data, total, { page, limit }), compiledIn: handlerNames() });
  })
  .post('/', describe.create, requireManagement, jsonBody(createHandlerBody), async (c) => {
    const body = c.req.valid('json');
    const { webhooks, handlerNames, newId, now } = c.var.services;
    if (handlerNames().includes(body.name)) throw new AppError('handler_exists', `This release has a handler named ${body.name}`);
    const time = new Date(now()).toISOString();
    const webhook = { id: newId(), ...body, createdAt: time, updatedAt: time };
    await webhooks.insert(webhook);
    const { secret: _, ...shown } = webhook;
    return c.json(shown, 201);
  })
  .get('/:id', describe.read, requireManagement, async (c) => {
    const id = c.req.param('id');
    const webhook = await c.var.services.webhooks.get(id);
    if (webhook === undefined) throw notFound(id);
    return c.json(webhook);
  })
  .put('/:id', describe.change, requireManagement, jsonBody(updateHandlerBody), async (c) => {
    const id = c.req.param('id');
    const body = c.req.valid('json');
    const { webhooks, now } = c.var.services;
    if (Object.keys(body).length === 0) throw new AppError('invalid_request', 'No update payload provided');
    const webhook = await webhooks.update(id, body, new Date(now()));
    if (webhook === undefined) throw notFound(id);
    return c.json(webhook);
  })
  .delete('/:id', describe.remove, requireManagement, async (c) => {
    const id = c.req.param('id');
    if (!(await c.var.services.webhooks.delete(id))) throw notFound(id);
    return c.json({ success: true });
  });
