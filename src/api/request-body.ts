import { AppError } from '../errors.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../json.ts';

export const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** Bytes past the limit that are still read, so that a client that is writing gets to see our answer instead of a broken pipe. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** A request's bytes. Throws `payload_too_large` when there are more than 20 MiB. */
export async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length <= MAX_BODY_BYTES) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > MAX_BODY_BYTES + MAX_DISCARDED_BYTES) break;
  }
  if (size > MAX_BODY_BYTES) throw new AppError('payload_too_large', `The body exceeds the limit of ${MAX_BODY_BYTES} bytes`);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Reads what nobody has read of a body, within bounds, for the same reason. */
export async function discardBody(request: Request): Promise<void> {
  if (request.bodyUsed || request.body === null) return;
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) return;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Reads a JSON object. Throws `invalid_json` for what is not JSON or nested too deeply, `invalid_request` for any other value. */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(decoder.decode(bytes)) as JsonValue;
  } catch {
    throw new AppError('invalid_json', 'The body is not valid JSON');
  }
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw new AppError('invalid_json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!isJsonObject(value)) throw new AppError('invalid_request', 'The body must be a JSON object');
  return value;
}
