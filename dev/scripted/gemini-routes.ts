import { type Context, Hono } from 'hono';
import { stream } from 'hono/streaming';
import type { JsonObject } from '../../src/json.ts';
import { readTurn, writeChunks, writeReply } from './gemini.ts';
import { GEMINI_RULES } from './gemini-rules.ts';
import { GEMINI_TOOL_RULES } from './gemini-tool-rules.ts';
import { assertModel, MODELS, readRequest } from './read-request.ts';
import { Refusal } from './refusal.ts';
import { enforceRules } from './rules.ts';
import { decide } from './script.ts';

const isEventStream = (c: Context): boolean => c.req.query('alt') === 'sse';
const isStreamed = (c: Context): boolean => c.req.path.endsWith(':streamGenerateContent');

/** In a streamed answer that is no event stream, everything is an item of one array. */
function answerError(error: Error, c: Context): Response {
  if (!(error instanceof Refusal)) throw error;
  const { message, status } = error;
  const body = { error: { code: status, message, status: status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT' } };
  return Response.json(isStreamed(c) && !isEventStream(c) ? [body] : body, { status });
}

const sendEvents = (c: Context, chunks: readonly JsonObject[]): Response => {
  c.header('content-type', 'text/event-stream');
  return stream(c, async (body) => {
    for (const chunk of chunks) await body.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
  });
};

const sendArray = (c: Context, chunks: readonly JsonObject[]): Response => {
  c.header('content-type', 'application/json; charset=UTF-8');
  return stream(c, async (body) => {
    for (const [index, chunk] of chunks.entries()) await body.write(`${index === 0 ? '[' : ',\r\n'}${JSON.stringify(chunk)}`);
    await body.write('\n]');
  });
};

const describeModel = (id: string): JsonObject => ({
  name: `models/${id}`,
  version: '1',
  displayName: id,
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
});

/** The list of models as Gemini writes it. */
export const listGeminiModels = (): JsonObject => ({ models: MODELS.map(describeModel) });

/** Gemini's generateContent and streamGenerateContent, in either version of its API, and its list of models. */
export const geminiRoutes = (): Hono =>
  new Hono()
    .onError(answerError)
    .get('/v1beta/models', (c) => c.json(listGeminiModels()))
    .post('/:version{v1|v1beta}/models/:target{[^/]+:(?:streamG|g)enerateContent}', async (c) => {
      const request = await readRequest(c.req.raw);
      const model = c.req.param('target').replace(/:[^:]*$/, '');
      assertModel(model);
      enforceRules([...GEMINI_TOOL_RULES, ...GEMINI_RULES], request);
      const reply = decide(readTurn(request));
      if (!isStreamed(c)) return c.json(writeReply(model, request, reply));
      return (isEventStream(c) ? sendEvents : sendArray)(c, writeChunks(model, request, reply));
    });
