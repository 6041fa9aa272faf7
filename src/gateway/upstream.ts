import type { ProviderConfig, WireFormat } from '../env.ts';
import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** A reply of a model provider that is not a success; forwarded to the client while headers are open. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';
  readonly response: Response;

  constructor(response: Response) {
    super(`The model provider answered ${response.status}`);
    this.response = response;
  }
}

/** Headers of the client that a provider may see. Credentials are never among them. */
const FORWARDED_HEADERS = [
  'accept',
  'user-agent',
  'openai-organization',
  'openai-project',
  'openai-beta',
  'anthropic-version',
  'anthropic-beta',
];

/** Longest silence of a provider, before its first byte or between two; the latter may be noticed up to an eighth later. */
export const UPSTREAM_IDLE_MS = 120_000;

/** How often silence is looked for while a body is read: a timer for each chunk would cost more than the chunk. */
const SILENCE_CHECK_MS = UPSTREAM_IDLE_MS / 8;

const BROKEN_OFF = "The model provider's reply broke off";

const MAX_REPLY_BYTES = 32 * 1024 * 1024;

function credentialHeader(format: WireFormat, apiKey: string): [string, string] {
  switch (format) {
    case 'openai':
    case 'openai-responses':
      return ['authorization', `Bearer ${apiKey}`];
    case 'anthropic':
      return ['x-api-key', apiKey];
    case 'gemini':
      return ['x-goog-api-key', apiKey];
  }
}

export function upstreamHeaders(provider: ProviderConfig, client: Headers): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of FORWARDED_HEADERS) {
    const value = client.get(name);
    if (value !== null) headers.set(name, value);
  }
  if (provider.apiKey !== undefined) headers.set(...credentialHeader(provider.format, provider.apiKey));
  return headers;
}

export interface UpstreamCall {
  url: string;
  headers: Headers;
  body: BodyInit;
  /** Fires when the client leaves; undefined for a reply that is piped to it. */
  signal: AbortSignal | undefined;
}

/**
 * What the work gives, unless a provider takes longer for it than it may be silent. The timer is left to end with its request: to clear it
 * costs as much as all that is done with the headers of a request.
 */
function inTime<Result>(work: Promise<Result>, lateMessage: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new AppError('upstream_timeout', lateMessage)), UPSTREAM_IDLE_MS);
    work.then(resolve, reject);
  });
}

/** Sends one request. Rejects with `upstream_unreachable`, or `upstream_timeout` when no reply begins in time. */
export async function openUpstream(fetch: typeof globalThis.fetch, { url, headers, body, signal }: UpstreamCall): Promise<Response> {
  const opening = fetch(url, { method: 'POST', headers, body, redirect: 'manual', ...(signal && { signal }) });
  try {
    return await inTime(opening, `The model provider did not answer within ${UPSTREAM_IDLE_MS} ms`);
  } catch (error) {
    // A reply that comes after all has nobody to read it.
    void opening.then((late) => late.body?.cancel()).catch(() => {});
    if (error instanceof AppError || signal?.aborted) throw error;
    throw new AppError('upstream_unreachable', 'The model provider cannot be reached');
  }
}

/** Hands over the chunks of a body until it ends or `isOver` says that nothing of worth can follow. Rejects with `upstream_timeout`, `upstream_incomplete`, or the client's abort reason. */
export async function readChunks(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array) => Promise<void> | undefined,
  isOver: () => boolean,
): Promise<void> {
  const reader = body.getReader();
  let fault: AppError | undefined;
  const cancel = (reason: unknown) => void reader.cancel(reason).catch(() => {});
  const onAbort = () => cancel(signal.reason);
  signal.addEventListener('abort', onAbort);
  let checks = 0;
  const checkSilence = () => {
    checks += 1;
    if (checks * SILENCE_CHECK_MS <= UPSTREAM_IDLE_MS) return;
    fault = new AppError('upstream_timeout', `The model provider was silent for ${UPSTREAM_IDLE_MS} ms`);
    cancel(fault);
  };
  const timer = setInterval(checkSilence, SILENCE_CHECK_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (fault) throw fault;
      signal.throwIfAborted();
      if (done) return;
      const taken = onChunk(value);
      if (taken) {
        // While the client is slow, the provider is not the silent one.
        checks = Number.NEGATIVE_INFINITY;
        await taken;
      }
      checks = 0;
      if (isOver()) return cancel(undefined);
    }
  } catch (error) {
    cancel(error);
    if (error instanceof AppError || signal.aborted) throw error;
    throw new AppError('upstream_incomplete', BROKEN_OFF);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** The text of a body. One whose length is known to be allowed is read by the runtime, which is faster at it; the signal of its fetch ends that too. */
async function readReplyText(response: Response, body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<string> {
  const isEncoded = response.headers.has('content-encoding');
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  if (!isEncoded && length <= MAX_REPLY_BYTES) {
    try {
      return await inTime(response.text(), `The model provider did not finish within ${UPSTREAM_IDLE_MS} ms`);
    } catch (error) {
      if (error instanceof AppError || signal.aborted) throw error;
      throw new AppError('upstream_incomplete', BROKEN_OFF);
    }
  }
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  const takeChunk = (chunk: Uint8Array): undefined => {
    size += chunk.length;
    if (size > MAX_REPLY_BYTES) throw new AppError('upstream_invalid', `The model provider's reply exceeds ${MAX_REPLY_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  };
  await readChunks(body, signal, takeChunk, () => false);
  return text + decoder.decode();
}

/** Reads a JSON reply. Throws an UpstreamRefusal for an error status and `upstream_invalid` for what is not a JSON object. */
export async function readJsonReply(response: Response, signal: AbortSignal): Promise<JsonObject> {
  if (!response.ok) throw new UpstreamRefusal(response);
  if (response.body === null) throw new AppError('upstream_invalid', 'The model provider sent an empty reply');
  const text = await readReplyText(response, response.body, signal);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new AppError('upstream_invalid', 'The model provider sent a reply that is not JSON');
  }
  if (!isJsonObject(value)) throw new AppError('upstream_invalid', 'The model provider sent a reply that is not a JSON object');
  return value;
}
