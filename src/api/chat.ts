import { Hono } from 'hono';
import type { ProviderAdapter } from '../providers/adapter.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { readClientId } from './client-id.ts';
import { errorResponse } from './error-response.ts';
import { ownerOf } from './principal.ts';
import { parseJsonObject, readBytes } from './request-body.ts';
import { locationOf } from './request-location.ts';

/** A gateway endpoint of one wire format; its errors have that format's shape. */
function gatewayRoute(adapter: ProviderAdapter, path: (model: string) => string) {
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c, adapter.errorBody));
  app.post('/', requireScope('chat'), async (c) => {
    readClientId(c, 'idempotency-key');
    readClientId(c, 'x-omniroute-session');
    const bytes = await readBytes(c.req.raw);
    const response = await c.var.services.gateway.handle({
      adapter,
      path,
      body: parseJsonObject(bytes),
      bytes,
      headers: c.req.raw.headers,
      apiKeyId: ownerOf(c.var.principal),
      requestId: c.var.requestId,
      location: locationOf(c.req.raw),
      signal: c.req.raw.signal,
      waitUntil: (work) => c.executionCtx.waitUntil(work),
      stopwatch: c.var.stopwatch,
    });
    response.headers.set('server-timing', c.var.stopwatch.header());
    return response;
  });
  return app;
}

export const chat = new Hono<AppEnv>().route(
  '/chat/completions',
  gatewayRoute(openAiChat, () => '/chat/completions'),
);
