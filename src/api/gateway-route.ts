import type { Context, Handler } from 'hono';
import type { ProviderAdapter } from '../providers/adapter.ts';
import type { Services } from '../services.ts';
import type { AppEnv } from './app-env.ts';
import { authenticate } from './auth.ts';
import { readClientId } from './client-id.ts';
import { annotate } from './describe-route.ts';
import { errorResponse } from './error-response.ts';
import { ownerOf } from './principal.ts';
import { parseJsonObject, readBytes } from './request-body.ts';
import { locationOf } from './request-location.ts';
import { beginRequest, finishRequest } from './request-scope.ts';

export interface GatewayEndpoint {
  adapter: ProviderAdapter;
  /** Path behind the provider's base URL; `isForwarded` when the reply goes to the client as it comes. */
  path(model: string, isForwarded: boolean): string;
  /** The request is passed on without skills. */
  isForwarded?: boolean;
}

async function answer(c: Context<AppEnv>, endpointOf: (c: Context<AppEnv>) => GatewayEndpoint): Promise<Response> {
  await authenticate(c, 'chat');
  const { adapter, path, isForwarded = false } = endpointOf(c);
  readClientId(c, 'idempotency-key');
  readClientId(c, 'x-omniroute-session');
  const admission = c.get('admission');
  const reading = readBytes(c.req.raw);
  if (admission) await Promise.all([reading, admission]);
  const bytes = await reading;
  const stopwatch = c.get('stopwatch');
  const principal = c.get('principal');
  const { gateway, rememberingGateway } = c.get('services');
  const { handle } = principal.kind === 'key' && principal.remembersOutcomes ? rememberingGateway : gateway;
  const response = await handle({
    adapter,
    path,
    isForwarded,
    body: parseJsonObject(bytes),
    bytes,
    headers: c.req.raw.headers,
    apiKeyId: ownerOf(principal),
    requestId: c.get('requestId'),
    location: locationOf(c.req.raw),
    signal: c.req.raw.signal,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
    stopwatch,
  });
  response.headers.set('server-timing', stopwatch.header());
  return response;
}

/**
 * Answers a POST of a wire format through the gateway; its errors have that format's shape. One handler does all that middleware does for
 * other routes, since each layer of it would be a good part of what the gateway adds to a request.
 */
export function gatewayHandler(
  services: Services,
  endpointOf: (c: Context<AppEnv>) => GatewayEndpoint,
  errorBody: ProviderAdapter['errorBody'],
): Handler<AppEnv> {
  return annotate(
    async (c: Context<AppEnv>) => {
      beginRequest(c, services);
      const response = await answer(c, endpointOf).catch((error: unknown) => errorResponse(error, c, errorBody));
      return finishRequest(c, response);
    },
    { demand: 'chat' },
  );
}
