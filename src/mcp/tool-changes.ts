import { createClientStream } from '../gateway/client-stream.ts';
import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { watchTools } from './watch-tools.ts';

const KEEP_ALIVE_MS = 15_000;
const CHANGED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });

/**
 * The stream that a client of the revisions up to 2025-11-25 opens by GET: it tells when the owner's tools have changed. Later revisions
 * subscribe by a request of the protocol.
 */
export function streamToolChanges(services: Services, apiKeyId: string, waitUntil: WaitUntil): Response {
  const end = () => {
    clearInterval(keepingAlive);
    unwatch();
  };
  const client = createClientStream(end, services.now);
  const keepingAlive = setInterval(() => client.probe(': keepalive\n\n'), KEEP_ALIVE_MS);
  const unwatch = watchTools(services, apiKeyId, waitUntil, () => void client.write(`event: message\ndata: ${CHANGED}\n\n`));
  client.probe(': open\n\n');
  return new Response(client.readable, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' },
  });
}
