import { type Context, Hono } from 'hono';
import { AppError } from '../errors.ts';
import type { ProviderAdapter } from '../providers/adapter.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { errorResponse } from './error-response.ts';
import { ownerOf } from './principal.ts';
import { parseJsonObject, readBytes } from './request-body.ts';

const MAX_HEADER_ID = 255;

/** Ids that clients choose become keys of stored rows, so they are short and printable. */
function checkClientId(c: Context<AppEnv>, header: string): void {
  const value = c.req.header(header);
  if (value !== undefined && (value === '' || value.length > MAX_HEADER_ID || !/^[\x21-\x7e]+$/.test(value))) {
    throw new AppError('invalid_request', `${header}: use 1 to ${MAX_HEADER_ID} printable characters`);
  }
}

/** A gateway endpoint of one wire format; its errors have that format's shape. */
function gatewayRoute(adapter: ProviderAdapter, path: (model: string) => string) {
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c, adapter.errorBody));
  app.post('/', requireScope('chat'), async (c) => {
    checkClientId(c, 'idempotency-key');
    checkClientId(c, 'x-omniroute-session');
    const bytes = await readBytes(c.req.raw);
    const response = await c.var.services.gateway.handle({
      adapter,
      path,
      body: parseJsonObject(bytes),
      bytes,
      headers: c.req.raw.headers,
      apiKeyId: ownerOf(c.var.principal),
      requestId: c.var.requestId,
      signal: c.req.raw.signal,
      waitUntil: (work) => c.executionCtx.waitUntil(work),
      stopwatch: c.var.stopwatch,
    });
    response.headers.set('server-timing', c.var.stopwatch.header());
    return response;
  });
  return app;
}

export const chat = new Hono<AppEnv>().route('/chat/completions', gatewayRoute(openAiChat, () => '/chat/completions'));
