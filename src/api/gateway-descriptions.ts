import * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { RouteDescription } from './describe-route.ts';

/** What the SDKs of a provider send and read is theirs to define; only what the gateway itself reads is named here. */
const anObject = z.looseObject({});
const listOfObjects = z.array(anObject);

const headers = z.object({
  'x-omniroute-skills': z.enum(['off', 'inline', 'loop']).optional().meta({ description: 'No skills, one round only, or the whole loop' }),
  'x-omniroute-session': z.string().optional().meta({ description: 'Kept with each execution as `sessionId`' }),
  'x-omniroute-fallback': z.string().optional().meta({ description: 'Models that are tried in turn, with commas between them' }),
  'x-omniroute-approve': z.string().optional().meta({ description: 'The id of an approval: the parked call runs in this request' }),
  'idempotency-key': z.string().optional().meta({ description: 'With the id of a call it claims an execution for 24 hours' }),
});

const ERRORS: readonly ErrorCode[] = [
  'model_not_found',
  'unknown_suspended_turn',
  'idempotency_conflict',
  'upstream_failed',
  'upstream_incomplete',
  'upstream_invalid',
  'upstream_unreachable',
  'upstream_timeout',
];

const openAiError = z
  .strictObject({ error: z.strictObject({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }) })
  .meta({ id: 'OpenAiError' });
const anthropicError = z
  .looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string(), message: z.string() }) })
  .meta({ id: 'AnthropicError' });
const geminiError = z
  .strictObject({ error: z.looseObject({ code: z.int(), message: z.string(), status: z.string(), details: listOfObjects }) })
  .meta({ id: 'GeminiError' });

/** Errors of an endpoint at which several kinds of SDK ask. */
export const anySdkError = z.union([openAiError, anthropicError, geminiError]);
export { geminiError };

const streamed = { 'application/json': anObject, 'text/event-stream': undefined };
const model = z.string().min(1);
const stream = z.boolean().optional();

const common = { tag: 'Gateway', headers, errors: ERRORS } as const;

export const chatCompletions: RouteDescription = {
  ...common,
  summary: 'OpenAI Chat Completions',
  body: z.looseObject({ model, messages: listOfObjects, stream }),
  answers: { 200: { content: streamed } },
  errorBody: openAiError,
};

export const responses: RouteDescription = {
  ...common,
  summary: 'OpenAI Responses',
  body: z.looseObject({ model, input: z.union([z.string(), listOfObjects]), stream }),
  answers: { 200: { content: streamed } },
  errorBody: openAiError,
};

export const messages: RouteDescription = {
  ...common,
  summary: 'Anthropic Messages',
  body: z.looseObject({ model, max_tokens: z.int(), messages: listOfObjects, stream }),
  answers: { 200: { content: streamed } },
  errors: [...ERRORS, 'thread_unsupported_request'],
  errorBody: anthropicError,
};

export const countTokens: RouteDescription = {
  ...common,
  summary: 'Tokens of an Anthropic request, as the provider counts them',
  body: z.looseObject({ model, messages: listOfObjects }),
  answers: { 200: anObject },
  errorBody: anthropicError,
};

const geminiAction = (action: string, summary: string, content: Record<string, z.ZodType | undefined>): RouteDescription => ({
  ...common,
  summary,
  wildcard: `{model}:${action}`,
  body: z.looseObject({ contents: listOfObjects }),
  answers: { 200: { content } },
  errors: [...ERRORS, 'not_found'],
  errorBody: geminiError,
});

/** One route has all actions, since hono's paths know no colon within a segment. */
export const geminiActions: readonly RouteDescription[] = [
  geminiAction('generateContent', 'Gemini, answered at once', { 'application/json': anObject }),
  {
    ...geminiAction('streamGenerateContent', 'Gemini, streamed', { 'application/json': listOfObjects, 'text/event-stream': undefined }),
    query: z.object({ alt: z.literal('sse').optional().meta({ description: 'Server-sent events in place of a JSON array' }) }),
  },
  geminiAction('countTokens', 'Tokens of a Gemini request, as the provider counts them', { 'application/json': anObject }),
];
