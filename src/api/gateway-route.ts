import { type Context, Hono } from 'hono';
import type { ProviderAdapter } from '../providers/adapter.ts';
import type { AppEnv } from './app-env.ts';
import { requireScopeFirst } from './auth.ts';
import { readClientId } from './client-id.ts';
import { errorResponse } from './error-response.ts';
import { ownerOf } from './principal.ts';
import { parseJsonObject, readBytes } from './request-body.ts';
import { locationOf } from './request-location.ts';

export interface GatewayEndpoint {
  adapter: ProviderAdapter;
  /** Path behind the provider's base URL; `isForwarded` when the reply goes to the client as it comes. */
  path(model: string, isForwarded: boolean): string;
  /** The request is passed on without skills. */
  isForwarded?: boolean;
}

/** Answers a request of a wire format through the gateway. */
export async function answerByGateway(c: Context<AppEnv>, { adapter, path, isForwarded = false }: GatewayEndpoint): Promise<Response> {
  readClientId(c, 'idempotency-key');
  readClientId(c, 'x-omniroute-session');
  const [bytes] = await Promise.all([readBytes(c.req.raw), c.get('admission')]);
  // Each look at `c.var` makes a new object of all variables.
  const { services, principal, requestId, stopwatch } = c.var;
  const response = await services.gateway.handle({
    adapter,
    path,
    isForwarded,
    body: parseJsonObject(bytes),
    bytes,
    headers: c.req.raw.headers,
    apiKeyId: ownerOf(principal),
    requestId,
    location: locationOf(c.req.raw),
    signal: c.req.raw.signal,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
    stopwatch,
  });
  response.headers.set('server-timing', stopwatch.header());
  return response;
}

/** One POST endpoint of a wire format; its errors have that format's shape. */
export function gatewayRoute(endpoint: GatewayEndpoint): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c, endpoint.adapter.errorBody));
  app.post('/', requireScopeFirst('chat'), (c) => answerByGateway(c, endpoint));
  return app;
}
