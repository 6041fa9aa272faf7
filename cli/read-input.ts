import type { JsonObject, JsonValue } from '../src/json.ts';
import { usageError } from './exit-code.ts';
import { parseJson, parseJsonObject } from './read-source.ts';

/** `name=text`, `name:=json`, `name=@file` and `name:=@file`. */
const FIELD = /^([^=]*?)(:?=)(@?)(.*)$/s;

type ReadSource = (file: string) => Promise<string>;

async function readField(argument: string, read: ReadSource): Promise<[string, JsonValue]> {
  const [, name = '', operator, at, rest = ''] = FIELD.exec(argument) ?? [];
  if (name === '') throw usageError(`Not a field of the input: ${argument}. Use name=text, name:=json, name=@file or --input`);
  const text = at === '@' ? await read(rest) : rest;
  return [name, operator === ':=' ? parseJson(text, name) : text];
}

/**
 * The input of an execution: a JSON object, `@file` or `-` for standard input, with the fields that stand alone put on top.
 * Rejects with a usage error.
 */
export async function readInput(option: string | undefined, fields: readonly string[], read: ReadSource): Promise<JsonObject> {
  const isSource = option === '-' || option?.startsWith('@') === true;
  const text = option !== undefined && isSource ? await read(option === '-' ? '-' : option.slice(1)) : (option ?? '{}');
  const input = parseJsonObject(text, 'The input');
  const entries: [string, JsonValue][] = [];
  // One after the other: standard input can be read once.
  for (const field of fields) entries.push(await readField(field, read));
  return { ...input, ...Object.fromEntries(entries) };
}
