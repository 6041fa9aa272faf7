import { Hono } from 'hono';
import * as z from 'zod';
import { AppError } from '../errors.ts';
import { EXECUTION_STATUSES } from '../execution/execution.ts';
import { replySlowly } from '../gateway/slow-reply.ts';
import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { acceptsEventStream } from './accepts-event-stream.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { readClientId } from './client-id.ts';
import { describeRoute } from './describe-route.ts';
import { executionBody, listedExecutionBody, MAX_LISTED_VALUE_BYTES, toExecutionBody, toListedBody } from './execution-body.ts';
import { createExecutionStream } from './execution-stream.ts';
import { findSkill } from './find-skill.ts';
import { ownerOf, type Principal, visibleOwner } from './principal.ts';
import { locationOf } from './request-location.ts';
import { idText, jsonObject, listBody, listSchema, moment, pageQuery, plainText } from './schemas.ts';
import { jsonBody, validateQuery } from './validate.ts';

/** The call id of what is asked for here: one request is one call. */
const CALL_ID = 'rest';
/** A constraint may be longer than a name. */
const skillReference = plainText(400).min(1);

export const listExecutionsQuery = z.strictObject({
  ...pageQuery,
  apiKeyId: idText.optional(),
  skill: skillReference.optional(),
  status: z.enum(EXECUTION_STATUSES).optional(),
  from: moment.optional(),
  to: moment.optional(),
});

export const executeBody = z
  .strictObject({
    skillName: skillReference.optional(),
    skillId: idText.optional(),
    input: jsonObject.default({}),
    sessionId: plainText(255).min(1).nullable().default(null),
  })
  .refine(({ skillName, skillId }) => (skillName === undefined) !== (skillId === undefined), 'Give either skillName or skillId');

const describe = {
  list: describeRoute({
    tag: 'Executions',
    summary: 'Executions, newest first',
    description: 'An API key sees its own. Inputs and outputs longer than 16 KiB are left out: each execution by itself has them.',
    answers: { 200: listSchema(listedExecutionBody) },
  }),
  read: describeRoute({ tag: 'Executions', summary: 'One execution', answers: { 200: executionBody }, errors: ['execution_not_found'] }),
  start: describeRoute({
    tag: 'Executions',
    summary: 'Run a skill',
    description:
      'Give either `skillId` or `skillName`: a name, `name@version` or `name@` and a constraint of npm’s semver. Answers once the execution has ended, with 200 also when its status is `error` or `timeout`.\n\nWith `accept: text/event-stream` it answers while the execution runs: `event: start` with `{"executionId"}`, `event: output` with `{"stream", "text"}` for each piece of what a program prints on `stdout` and `stderr`, and at the end `event: execution` with `{"execution"}`, or `event: error` with `{"error", "code"}` when it could not be run; comments keep a silent stream alive. What is refused before the start has its status and is JSON. Leaving ends the execution.',
    headers: z.object({
      'idempotency-key': z.string().optional().meta({ description: 'A repeat within 24 hours gets the stored execution and runs nothing' }),
    }),
    answers: {
      200: { content: { 'application/json': z.strictObject({ execution: executionBody }), 'text/event-stream': undefined } },
    },
    errors: ['skill_not_found', 'skill_off', 'idempotency_conflict', 'skills_disabled'],
  }),
};

async function findAsked(
  services: Services,
  principal: Principal,
  { skillId, skillName }: z.infer<typeof executeBody>,
  waitUntil: WaitUntil,
) {
  const skill = await findSkill(services, principal, skillId ?? skillName ?? '', waitUntil);
  if (skillId !== undefined && skill.id !== skillId) throw new AppError('skill_not_found', `No skill ${skillId}`);
  return skill;
}

export const executions = new Hono<AppEnv>()
  .get('/', describe.list, requireScope('read:skills'), validateQuery(listExecutionsQuery), async (c) => {
    const { page, limit, ...filter } = c.req.valid('query');
    const owner = visibleOwner(c.var.principal);
    if (owner !== undefined && filter.apiKeyId !== undefined && filter.apiKeyId !== owner) {
      throw new AppError('forbidden', 'An API key sees its own executions only');
    }
    const { executions } = c.var.services;
    const { data, total } = await executions.listPage(
      { ...filter, apiKeyId: owner ?? filter.apiKeyId },
      page,
      limit,
      MAX_LISTED_VALUE_BYTES,
    );
    return c.json(listBody(data.map(toListedBody), total, { page, limit }));
  })
  .get('/:id', describe.read, requireScope('read:skills'), async (c) => {
    const id = c.req.param('id');
    const execution = await c.var.services.executions.get(id, visibleOwner(c.var.principal));
    if (execution === undefined) throw new AppError('execution_not_found', `No execution with id ${id}`);
    return c.json(toExecutionBody(execution));
  })
  .post('/', describe.start, requireScope('execute:skills'), jsonBody(executeBody), async (c) => {
    const { services, principal, requestId } = c.var;
    const body = c.req.valid('json');
    const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work);
    const idempotencyKey = readClientId(c, 'idempotency-key');
    const skill = await findAsked(services, principal, body, waitUntil);
    const left = new AbortController();
    const onLeave = () => left.abort(new Error('The client left'));
    const { maxSandboxOutputChars: maxOutputChars } = services.config.limits;
    const stream = acceptsEventStream(c) ? createExecutionStream({ maxOutputChars, onLeave, now: services.now }) : undefined;
    const claimed = Promise.withResolvers<void>();
    const run = services.executor.execute(skill, body.input, {
      apiKeyId: ownerOf(principal),
      sessionId: body.sessionId,
      requestId: idempotencyKey ?? requestId,
      logId: requestId,
      callId: CALL_ID,
      signal: AbortSignal.any([c.req.raw.signal, left.signal]),
      onClaimed: (executionId) => (stream ? stream.onClaimed(executionId) : claimed.resolve()),
      ...(stream && { onOutput: stream.onOutput }),
      location: locationOf(c.req.raw),
    });
    // Its end is recorded even when the client leaves before it.
    waitUntil(run.catch(() => {}));
    if (stream) return stream.reply(run);
    return replySlowly({
      work: run.then((execution) => ({ body: JSON.stringify({ execution: toExecutionBody(execution) }), headers: {} })),
      certain: claimed.promise,
      headers: () => new Headers({ 'content-type': 'application/json' }),
      onLeave,
      now: services.now,
    });
  });
