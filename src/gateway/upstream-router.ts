import { AppError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ModelRoute } from '../providers/route-model.ts';
import { appendMembers } from './append-members.ts';
import type { GatewayDependencies, GatewayRequest } from './exchange.ts';
import { openUpstream, upstreamHeaders } from './upstream.ts';

/** A call whose reply goes to the client as it comes. `bytes` are sent as they are when the route asks for the very model that they name. */
export interface Forwarded {
  bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** Opens the upstream calls of one request. The first call decides which route answers; the later rounds stay with it. */
export interface UpstreamRouter {
  open(body: JsonObject, signal: AbortSignal | undefined, forwarded?: Forwarded): Promise<Response>;
}

/** Whether another provider may do better: it is full, failing or cannot be reached. */
const isWorthAnother = (status: number): boolean => status === 429 || status >= 500;
const isUnreachable = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'upstream_unreachable' || error.code === 'upstream_timeout');

/** `model` is what the body asks for; `routes` are tried in order. */
export function createUpstreamRouter(
  { fetch, log }: Pick<GatewayDependencies, 'fetch' | 'log'>,
  { adapter, path, headers, requestId, stopwatch, body: received, bytes, observer }: GatewayRequest,
  model: string,
  routes: readonly ModelRoute[],
): UpstreamRouter {
  let chosen: ModelRoute | undefined;

  function send(route: ModelRoute, body: JsonObject, signal: AbortSignal | undefined, forwarded?: Forwarded): Promise<Response> {
    const text =
      route.model === model
        ? (forwarded?.bytes ?? appendMembers(bytes, received, body) ?? JSON.stringify(body))
        : JSON.stringify(adapter.withModel(body, route.model));
    const url = `${route.provider.baseUrl}${path(route.model, forwarded !== undefined)}`;
    return openUpstream(fetch, { url, headers: upstreamHeaders(route.provider, headers), body: text, signal });
  }

  async function choose(body: JsonObject, signal: AbortSignal | undefined, forwarded?: Forwarded): Promise<Response> {
    for (const [position, route] of routes.entries()) {
      const isLast = position === routes.length - 1;
      observer?.onRoute(route);
      try {
        const response = await send(route, body, signal, forwarded);
        if (isLast || !isWorthAnother(response.status)) {
          chosen = route;
          return response;
        }
        log.warn('gateway.fallback', { requestId, provider: route.provider.name, status: response.status });
        void response.body?.cancel().catch(() => {});
      } catch (error) {
        if (isLast || !isUnreachable(error)) throw error;
        log.warn('gateway.fallback', { requestId, provider: route.provider.name });
      }
    }
    throw new AppError('model_not_found', `No provider is configured for the model ${model}`);
  }

  return {
    open: (body, signal, forwarded) =>
      stopwatch.time('upstream', () => (chosen ? send(chosen, body, signal, forwarded) : choose(body, signal, forwarded))),
  };
}
