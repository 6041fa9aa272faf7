import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { anthropicRoutes, listAnthropicModels } from './scripted/anthropic-routes.ts';
import { geminiRoutes, listGeminiModels } from './scripted/gemini-routes.ts';
import { openAiChatRoutes } from './scripted/openai-chat-routes.ts';
import { answerOpenAiError } from './scripted/openai-error.ts';
import { openAiResponsesRoutes } from './scripted/openai-responses-routes.ts';
import { MODELS } from './scripted/read-request.ts';
import { Refusal } from './scripted/refusal.ts';
import { HOST } from './stack/ports.ts';

const listOpenAiModels = () => ({
  object: 'list',
  data: MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'omniroute-edge' })),
});

/** All three have their list at the same path: the headers tell whose client asks. */
function listModels(headers: Headers): object {
  if (headers.has('anthropic-version')) return listAnthropicModels();
  return headers.has('x-goog-api-key') || headers.has('x-goog-api-client') ? listGeminiModels() : listOpenAiModels();
}

/**
 * A model for development that follows a script (`scripted/script.ts`) and speaks OpenAI's Chat Completions and Responses, Anthropic's
 * Messages and Gemini's generateContent, plain and streamed. It refuses what those providers refuse: each format has its rules beside
 * it. Any model name that begins with `scripted-` will do; keys are not asked for.
 */
export function createScriptedModel({ now }: { now: () => number }): Hono {
  return new Hono()
    .get('/v1/models', (c) => c.json(listModels(c.req.raw.headers)))
    .route('/', openAiChatRoutes({ now }))
    .route('/', openAiResponsesRoutes({ now }))
    .route('/', anthropicRoutes())
    .route('/', geminiRoutes())
    .notFound((c) => answerOpenAiError(new Refusal(404, `No such endpoint: ${c.req.method} ${c.req.path}`, 'not_found')));
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
