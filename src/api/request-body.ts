import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

export const MAX_BODY_BYTES = 20 * 1024 * 1024;
export const MAX_JSON_DEPTH = 64;

/** A request's bytes. Throws `payload_too_large` as soon as it is known that there are more than 20 MiB. */
export async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new AppError('payload_too_large', `The body exceeds the limit of ${MAX_BODY_BYTES} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function isDeeperThan(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1));
}

/** Reads a JSON object. Throws `invalid_json` for what is not JSON or nested too deeply, `invalid_request` for any other value. */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)) as JsonValue;
  } catch {
    throw new AppError('invalid_json', 'The body is not valid JSON');
  }
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw new AppError('invalid_json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!isJsonObject(value)) throw new AppError('invalid_request', 'The body must be a JSON object');
  return value;
}
