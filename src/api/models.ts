import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { WireFormat } from '../env.ts';
import { anthropic } from '../providers/anthropic.ts';
import { errorBody as geminiErrorBody } from '../providers/gemini-error.ts';
import { modelList } from '../providers/list-models.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { errorResponse } from './error-response.ts';
import { anySdkError, geminiError } from './gateway-descriptions.ts';

type ListFormat = Exclude<WireFormat, 'openai-responses'>;

const ERROR_BODIES = { openai: openAiChat.errorBody, anthropic: anthropic.errorBody, gemini: geminiErrorBody };

/** Three providers list their models at one path; their clients are told apart by what they always send. */
function formatOf(c: Context<AppEnv>): ListFormat {
  if (c.req.header('anthropic-version') !== undefined) return 'anthropic';
  const isGoogle = ['x-goog-api-key', 'x-goog-api-client'].some((name) => c.req.header(name) !== undefined);
  return isGoogle || c.req.query('key') !== undefined ? 'gemini' : 'openai';
}

const openAiList = z.strictObject({
  object: z.literal('list'),
  data: z.array(z.strictObject({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })),
});
const anthropicList = z.strictObject({
  data: z.array(z.strictObject({ type: z.literal('model'), id: z.string(), display_name: z.string(), created_at: z.string() })),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});
const geminiList = z.strictObject({
  models: z.array(z.strictObject({ name: z.string(), displayName: z.string(), supportedGenerationMethods: z.array(z.string()) })),
});

const describeList = (answer: z.ZodType, errorBody: z.ZodType, description?: string) =>
  describeRoute({
    tag: 'Gateway',
    summary: 'The models that can be asked',
    ...(description !== undefined && { description }),
    answers: { 200: answer },
    errorBody,
  });

const describe = {
  gemini: describeList(geminiList, geminiError),
  'by-client': describeList(
    z.union([openAiList, anthropicList, geminiList]),
    anySdkError,
    'In the shape of the SDK that asks: Anthropic’s with `anthropic-version`, Google’s with `x-goog-api-key`, `x-goog-api-client` or `?key=`, else OpenAI’s.',
  ),
};

/** Lists the models of a format, or of the one that the client speaks, in its shape. */
export function models(format: keyof typeof describe): Hono<AppEnv> {
  const asked = (c: Context<AppEnv>) => (format === 'by-client' ? formatOf(c) : format);
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c, ERROR_BODIES[asked(c)]));
  app.get('/', describe[format], requireScope('chat'), async (c) => c.json(modelList(asked(c), await c.var.services.listModels(asked(c)))));
  return app;
}
