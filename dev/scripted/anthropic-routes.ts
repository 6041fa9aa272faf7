import { type Context, Hono } from 'hono';
import type { JsonObject } from '../../src/json.ts';
import { countInput, readTurn, writeEvents, writeReply } from './anthropic.ts';
import { ANTHROPIC_RULES, ANTHROPIC_TRANSCRIPT_RULES, enforceVersion } from './anthropic-rules.ts';
import { newId } from './new-id.ts';
import { assertModel, MODELS, readRequest } from './read-request.ts';
import { Refusal } from './refusal.ts';
import { enforceRules, type Rule } from './rules.ts';
import { decide } from './script.ts';
import { sendTypedEvents } from './send-events.ts';

function answerError(error: Error): Response {
  if (!(error instanceof Refusal)) throw error;
  const { message, status } = error;
  const type = status === 404 ? 'not_found_error' : 'invalid_request_error';
  return Response.json({ type: 'error', error: { type, message }, request_id: newId('req_01', 22) }, { status });
}

async function readJudged(c: Context, rules: readonly Rule[]): Promise<JsonObject> {
  const version = c.req.header('anthropic-version');
  const request = await readRequest(c.req.raw);
  enforceVersion(version, request);
  assertModel(request.model);
  enforceRules(rules, request);
  return request;
}

/** The list of models as Anthropic writes it. */
export function listAnthropicModels(): JsonObject {
  const data = MODELS.map((id) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }));
  return { data, has_more: false, first_id: MODELS.at(0) ?? null, last_id: MODELS.at(-1) ?? null };
}

/** Anthropic's Messages, plain and streamed, and its counting of tokens. */
export const anthropicRoutes = (): Hono =>
  new Hono()
    .onError(answerError)
    .post('/v1/messages', async (c) => {
      const request = await readJudged(c, ANTHROPIC_RULES);
      const reply = decide(readTurn(request));
      return request.stream === true ? sendTypedEvents(c, writeEvents(request, reply)) : c.json(writeReply(request, reply));
    })
    .post('/v1/messages/count_tokens', async (c) => {
      const request = await readJudged(c, ANTHROPIC_TRANSCRIPT_RULES);
      return c.json({ input_tokens: countInput(request) });
    });
