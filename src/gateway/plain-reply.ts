import { AppError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { createExchangeLoop } from './exchange-loop.ts';
import { forwardRefusal, headersForOwnBody } from './forward-reply.ts';
import { executionsHeader, injectedHeader } from './reply-headers.ts';
import { replySlowly } from './slow-reply.ts';
import { readJsonReply, UpstreamRefusal } from './upstream.ts';

/** Answers with one JSON body after all rounds are done. */
export async function answer(exchange: Exchange): Promise<Response> {
  const { dependencies, request, selected, send } = exchange;
  const { adapter } = request;
  const left = new AbortController();
  const signal = AbortSignal.any([request.signal, left.signal]);
  const callsBegin = Promise.withResolvers<void>();
  let upstream: Response | undefined;

  function headers(): Headers {
    const copied = upstream ? headersForOwnBody(upstream) : new Headers();
    copied.set('content-type', 'application/json');
    copied.set('x-omniroute-skills-injected', injectedHeader(selected));
    return copied;
  }

  async function run() {
    const { reply, visibility } = await createExchangeLoop(exchange, callsBegin.resolve).run(async (body) => {
      const response = await send(body, signal);
      upstream = response;
      const reply = await readJsonReply(response, signal);
      if (!adapter.isReply(reply)) throw new AppError('upstream_invalid', 'The model provider sent JSON that is no reply');
      return reply;
    }, signal);
    const body = JSON.stringify(adapter.composeReply(reply, visibility));
    return { body, headers: { 'x-omniroute-executions': executionsHeader(reply.report.executions) } };
  }

  const work = run();
  // Executions are written to their end even when the client has left by then.
  request.waitUntil(work.catch(() => {}));
  const onLeave = () => left.abort(new Error('The client left'));
  try {
    return await replySlowly({ work, certain: callsBegin.promise, headers, onLeave, now: dependencies.now });
  } catch (error) {
    if (error instanceof UpstreamRefusal) return forwardRefusal(adapter, error);
    throw error;
  }
}
