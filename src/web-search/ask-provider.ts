import { isJsonObject, type JsonObject } from '../json.ts';
import { readBytes } from '../net/read-bytes.ts';
import type { ProviderRequest } from './search-provider.ts';

const MAX_BYTES = 2 * 1024 * 1024;

/** Why a provider did not answer, worded to follow its name. Never holds anything that the provider or the network said. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  /** Whether the same search may succeed a moment later. */
  readonly transient: boolean;

  constructor(message: string, { transient }: { transient: boolean }) {
    super(message);
    this.transient = transient;
  }
}

export const unreadable = () => new ProviderFailure('sent an answer that cannot be read', { transient: false });

/** 402 and 429 are told by most; 432 and 433 are Tavily's limits of a plan (docs.tavily.com). */
const OUT_OF_QUOTA = new Set([402, 429, 432, 433]);

function describeStatus(status: number, refusal: string): string {
  if (status === 401 || status === 403) return `${refusal} (${status})`;
  if (OUT_OF_QUOTA.has(status)) return `is over its limit (${status})`;
  if (status >= 500) return `failed (${status})`;
  return `did not accept the search (${status})`;
}

function parseObject(bytes: Uint8Array): JsonObject {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isJsonObject(body)) return body;
  } catch {
    // Told below, like any other body that is none of the provider's.
  }
  throw unreadable();
}

interface AskOptions {
  fetch: typeof fetch;
  timeoutMs: number;
  /** The words for 401 and 403. */
  refusal: string | undefined;
  signal: AbortSignal;
}

/** Sends a search and reads the JSON object that comes back. Rejects with a ProviderFailure, or with the signal's reason when it fires. */
export async function askProvider({ url, method, headers, body }: ProviderRequest, options: AskOptions): Promise<JsonObject> {
  const { fetch, timeoutMs, refusal = 'refuses its API key', signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  try {
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }), redirect: 'manual', signal: either });
    if (!response.ok) {
      await response.body?.cancel().catch(() => {});
      const { status } = response;
      throw new ProviderFailure(describeStatus(status, refusal), { transient: status === 429 || status >= 500 });
    }
    const { bytes, truncated } = await readBytes(response, { maxBytes: MAX_BYTES, signal: either });
    if (truncated) throw unreadable();
    return parseObject(bytes);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderFailure) throw error;
    // Whoever was silent for so long is not asked to be so again.
    if (timeout.aborted) throw new ProviderFailure(`did not answer within ${timeoutMs} ms`, { transient: false });
    throw new ProviderFailure('cannot be reached', { transient: true });
  }
}
