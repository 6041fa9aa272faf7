import { setTimeout as delay } from 'node:timers/promises';

/** Often enough that a development stack soon shows what happens once a minute on Cloudflare. */
const INTERVAL_MS = 10_000;
const TIMEOUT_MS = 30_000;
/** A worker that is being loaded anew may miss a call. */
const MAX_MISSED = 3;

/**
 * Calls the worker's scheduled handler once, by the path that Miniflare and `wrangler dev` have for it.
 * Resolves to whether the handler got through; rejects when there is no worker.
 */
export async function callScheduled(url: string): Promise<boolean> {
  const response = await fetch(`${url}/cdn-cgi/local/scheduled`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return response.ok && (await response.text()) === 'ok';
}

/** Calls it again and again. Resolves to undefined when the signal fires, or to why the worker cannot be called any more. */
export async function runCron(url: string, signal: AbortSignal, log: (line: string) => void): Promise<string | undefined> {
  let missed = 0;
  while (missed < MAX_MISSED) {
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return undefined;
    try {
      if (!(await callScheduled(url))) log('the scheduled handler failed');
      missed = 0;
    } catch {
      missed += 1;
    }
  }
  return `the worker does not answer on ${url}`;
}
