import type { Exchange } from './exchange.ts';
import { createExchangeLoop } from './exchange-loop.ts';
import { clientHeaders, forwardRefusal } from './forward-reply.ts';
import { injectedHeader } from './select-tools.ts';
import { readJsonReply, UpstreamRefusal } from './upstream.ts';

/** Answers with one JSON body after all rounds are done. */
export async function answer(exchange: Exchange): Promise<Response> {
  const { request, selected, send } = exchange;
  const { adapter, signal } = request;
  let upstream: Response | undefined;
  try {
    const running = createExchangeLoop(exchange).run(async (body) => {
      const response = await send(body, signal);
      upstream = response;
      return readJsonReply(response, signal);
    }, signal);
    // Executions are written to their end even when the client has left by then.
    request.waitUntil(running.catch(() => {}));
    const { reply, visibility } = await running;
    const headers = upstream ? clientHeaders(upstream) : new Headers();
    headers.delete('content-length');
    headers.delete('content-encoding');
    headers.set('content-type', 'application/json');
    headers.set('x-omniroute-skills-injected', injectedHeader(selected));
    headers.set('x-omniroute-executions', JSON.stringify(reply.report.executions));
    return new Response(JSON.stringify(adapter.composeReply(reply, visibility)), { headers });
  } catch (error) {
    if (error instanceof UpstreamRefusal) return forwardRefusal(adapter, error);
    throw error;
  }
}
