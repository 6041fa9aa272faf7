import { type Context, Hono } from 'hono';
import type { WireFormat } from '../env.ts';
import { anthropic } from '../providers/anthropic.ts';
import { errorBody as geminiErrorBody } from '../providers/gemini-error.ts';
import { modelList } from '../providers/list-models.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { errorResponse } from './error-response.ts';

type ListFormat = Exclude<WireFormat, 'openai-responses'>;

const ERROR_BODIES = { openai: openAiChat.errorBody, anthropic: anthropic.errorBody, gemini: geminiErrorBody };

/** Three providers list their models at one path; their clients are told apart by what they always send. */
function formatOf(c: Context<AppEnv>): ListFormat {
  if (c.req.header('anthropic-version') !== undefined) return 'anthropic';
  const isGoogle = ['x-goog-api-key', 'x-goog-api-client'].some((name) => c.req.header(name) !== undefined);
  return isGoogle || c.req.query('key') !== undefined ? 'gemini' : 'openai';
}

/** Lists the models of a format, or of the one that the client speaks, in its shape. */
export function models(format: ListFormat | 'by-client'): Hono<AppEnv> {
  const asked = (c: Context<AppEnv>) => (format === 'by-client' ? formatOf(c) : format);
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c, ERROR_BODIES[asked(c)]));
  app.get('/', requireScope('chat'), async (c) => c.json(modelList(asked(c), await c.var.services.listModels(asked(c)))));
  return app;
}
