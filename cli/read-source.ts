import { readFile, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/json.ts';
import { messageOf, usageError } from './exit-code.ts';

/** What the gateway takes of a body. */
const MAX_BYTES = 20 * 1024 * 1024;

function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`${source} is not UTF-8 text`);
  }
}

const tooLarge = (source: string) => usageError(`${source} is larger than 20 MiB`);

async function readStdin(stdin: Readable): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Uint8Array | string>) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    bytes += part.length;
    if (bytes > MAX_BYTES) throw tooLarge('Standard input');
    chunks.push(part);
  }
  return decode(Buffer.concat(chunks), 'Standard input');
}

/** The text of a file, or of standard input for `-`. Rejects with a usage error. */
export async function readSource(file: string, stdin: Readable): Promise<string> {
  if (file === '-') return readStdin(stdin);
  try {
    if ((await stat(file)).size > MAX_BYTES) throw tooLarge(file);
    return decode(await readFile(file), file);
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw usageError(`Cannot read ${file}: ${messageOf(error)}`);
  }
}

/** A value of JSON. Throws a usage error that says what of `source` is wrong. */
export function parseJson(text: string, source: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw usageError(`${source} is not JSON: ${messageOf(error)}`);
  }
}

export function parseJsonObject(text: string, source: string): JsonObject {
  const value = parseJson(text, source);
  if (isJsonObject(value)) return value;
  throw usageError(`${source} is not a JSON object`);
}
