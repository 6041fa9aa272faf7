import { AppError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ModelRoute } from '../providers/route-model.ts';
import type { GatewayDependencies, GatewayRequest } from './exchange.ts';
import { openUpstream, upstreamHeaders } from './upstream.ts';

/** Opens the upstream calls of one request. The first call decides which route answers; the later rounds stay with it. */
export interface UpstreamRouter {
  /** `bytes` are sent as they are when the route asks for the very model that they name. */
  open(body: JsonObject, signal: AbortSignal, bytes?: Uint8Array<ArrayBuffer>): Promise<Response>;
}

/** Whether another provider may do better: it is full, failing or cannot be reached. */
const isWorthAnother = (status: number): boolean => status === 429 || status >= 500;
const isUnreachable = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'upstream_unreachable' || error.code === 'upstream_timeout');

/** `model` is what the body asks for; `routes` are tried in order. */
export function createUpstreamRouter(
  { fetch, log }: Pick<GatewayDependencies, 'fetch' | 'log'>,
  { adapter, path, headers, requestId, stopwatch }: GatewayRequest,
  model: string,
  routes: readonly ModelRoute[],
): UpstreamRouter {
  let chosen: ModelRoute | undefined;

  function send(route: ModelRoute, body: JsonObject, signal: AbortSignal, bytes?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const text = route.model === model ? (bytes ?? JSON.stringify(body)) : JSON.stringify(adapter.withModel(body, route.model));
    const url = `${route.provider.baseUrl}${path(route.model)}`;
    return openUpstream(fetch, { url, headers: upstreamHeaders(route.provider, headers), body: text, signal });
  }

  async function choose(body: JsonObject, signal: AbortSignal, bytes?: Uint8Array<ArrayBuffer>): Promise<Response> {
    for (const [position, route] of routes.entries()) {
      const isLast = position === routes.length - 1;
      try {
        const response = await send(route, body, signal, bytes);
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
    open: (body, signal, bytes) =>
      stopwatch.time('upstream', () => (chosen ? send(chosen, body, signal, bytes) : choose(body, signal, bytes))),
  };
}
