import { AppError } from '../errors.ts';
import { createClientStream } from './client-stream.ts';
import { readEventStream } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import { createExchangeLoop } from './exchange-loop.ts';
import { forwardRefusal, headersForOwnBody } from './forward-reply.ts';
import { injectedHeader } from './reply-headers.ts';
import { UpstreamRefusal } from './upstream.ts';

/** How long a stream may be silent before the format's keepalive is sent. */
const KEEPALIVE_AFTER_MS = 10_000;
/** workerd notices that a client has left only when it writes to it, so a silent stream is probed this often. */
const PROBE_MS = 250;

const publicFault = (error: unknown): { code: string; message: string } => {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  if (error instanceof UpstreamRefusal) return { code: 'upstream_failed', message: error.message };
  return { code: 'internal_error', message: 'Internal error' };
};

function requireEventStream(response: Response): ReadableStream<Uint8Array> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body !== null && type.toLowerCase().includes('text/event-stream')) return response.body;
  void response.body?.cancel().catch(() => {});
  throw new AppError('upstream_invalid', 'The model provider did not answer with an event stream');
}

/**
 * Answers with a stream that is live over all rounds. The first upstream call is opened before the status is sent, so that its refusal
 * keeps its status and `retry-after`; a later failure ends the stream with the format's error event.
 */
export async function stream(exchange: Exchange): Promise<Response> {
  const { dependencies, request, selected, original } = exchange;
  const { adapter, requestId } = request;
  const left = new AbortController();
  const signal = AbortSignal.any([request.signal, left.signal]);
  const send = (body: typeof original) => exchange.send(adapter.prepareStream(body), signal);

  const first = await send(exchange.injected);
  if (!first.ok) return forwardRefusal(adapter, new UpstreamRefusal(first));
  let body: ReadableStream<Uint8Array> | undefined = requireEventStream(first);

  const loop = createExchangeLoop(exchange);
  const relay = adapter.createRelay(original, loop.liveVisibility, (call) => loop.onCallReady(call, signal));
  const client = createClientStream(() => left.abort(new Error('The client left')), dependencies.now);

  async function callModel(next: typeof original) {
    if (body === undefined) {
      const response = await send(next);
      if (!response.ok) throw new UpstreamRefusal(response);
      body = requireEventStream(response);
    }
    await readEventStream(body, signal, relay.push, client.write, relay.isOver);
    body = undefined;
    const { response, text } = relay.endRound();
    if (text !== '') await client.write(text);
    return response;
  }

  async function run() {
    const keepalive = setInterval(() => {
      if (client.silentMs() >= KEEPALIVE_AFTER_MS) void client.write(adapter.keepalive);
      else if (client.silentMs() >= PROBE_MS) client.probe(adapter.probe);
    }, PROBE_MS);
    try {
      const { reply } = await loop.run(callModel, signal);
      await client.write(relay.finish(reply));
    } catch (error) {
      if (signal.aborted) return;
      const fault = publicFault(error);
      dependencies.log.error('gateway.stream.failed', {
        requestId,
        code: fault.code,
        error: error instanceof Error ? error.name : 'unknown',
      });
      await client.write(relay.fail(fault));
    } finally {
      clearInterval(keepalive);
      client.close();
    }
  }

  request.waitUntil(run());
  const headers = headersForOwnBody(first);
  if (adapter.streamContentType !== undefined) {
    headers.set('content-type', adapter.streamContentType);
    // Platforms compress what is no event stream, and hold back what a client waits for while they do.
    headers.set('content-encoding', 'identity');
  }
  headers.set('cache-control', 'no-cache, no-transform');
  headers.set('x-omniroute-skills-injected', injectedHeader(selected));
  return new Response(client.readable, { headers });
}
