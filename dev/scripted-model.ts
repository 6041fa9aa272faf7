import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { isJsonObject, type JsonObject } from '../src/json.ts';
import { readTurn, writeChunks, writeReply } from './scripted/openai-chat.ts';
import { decide } from './scripted/script.ts';
import { HOST } from './stack/ports.ts';

const MODELS = ['scripted-demo', 'scripted-test'];

function refuse(status: 400 | 404, code: string, message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', param: null, code } }, { status });
}

async function readRequest(request: Request): Promise<JsonObject | Response> {
  const body: unknown = await request.json().catch(() => undefined);
  if (!isJsonObject(body)) return refuse(400, 'invalid_json', 'The body is not a JSON object');
  const { model, messages } = body;
  if (typeof model !== 'string' || !model.startsWith('scripted-')) return refuse(404, 'model_not_found', `No model named ${String(model)}`);
  if (!Array.isArray(messages) || messages.length === 0)
    return refuse(400, 'invalid_request', 'messages: a list with at least one message');
  return body;
}

/**
 * A model for development that follows a script (`scripted/script.ts`) and speaks OpenAI's Chat Completions, plain and streamed.
 * Any model name that begins with `scripted-` will do; keys are not asked for.
 */
export function createScriptedModel({ now }: { now: () => number }): Hono {
  return new Hono()
    .get('/v1/models', (c) =>
      c.json({ object: 'list', data: MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'omniroute-edge' })) }),
    )
    .post('/v1/chat/completions', async (c) => {
      const request = await readRequest(c.req.raw);
      if (request instanceof Response) return request;
      const reply = decide(readTurn(request));
      if (request.stream !== true) return c.json(writeReply(request, reply, now()));
      return streamSSE(c, async (stream) => {
        for (const chunk of writeChunks(request, reply, now())) await stream.writeSSE({ data: JSON.stringify(chunk) });
        await stream.writeSSE({ data: '[DONE]' });
      });
    })
    .notFound((c) => refuse(404, 'not_found', `No such endpoint: ${c.req.method} ${c.req.path}`));
}

if (import.meta.main) {
  const server = serve({
    fetch: createScriptedModel({ now: Date.now }).fetch,
    hostname: HOST,
    port: Number(process.env.SCRIPTED_MODEL_PORT),
  });
  const stop = (): void => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}
