import type { Context, MiddlewareHandler } from 'hono';
import { createStopwatch } from '../gateway/stopwatch.ts';
import type { Services } from '../services.ts';
import type { AppEnv } from './app-env.ts';
import { discardBody } from './request-body.ts';

/** Gives a request what its handlers ask the context for. */
export function beginRequest(c: Context<AppEnv>, services: Services): void {
  c.set('services', services);
  c.set('requestId', services.newId());
  c.set('stopwatch', createStopwatch(services.now));
}

/** The answer under the request's id, once the client has sent all of its body. */
export async function finishRequest(c: Context<AppEnv>, response: Response): Promise<Response> {
  if (!c.req.raw.bodyUsed) await discardBody(c.req.raw).catch(() => {});
  response.headers.set('x-omniroute-request-id', c.get('requestId'));
  return response;
}

/** Begins and finishes the requests of what stands behind it. */
export const requestScope =
  (services: Services): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    beginRequest(c, services);
    await next();
    await finishRequest(c, c.res);
  };
