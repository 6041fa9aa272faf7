import type { JsonObject, JsonValue } from '../json.ts';

const CLOSING_BRACE = 0x7d;

const encoder = new TextEncoder();

/** Texts of the entries of lists. The tools that skills are offered as are the same objects in every request. */
const entryTexts = new WeakMap<object, string>();

function entryText(entry: JsonValue): string {
  if (typeof entry !== 'object' || entry === null) return JSON.stringify(entry);
  const text = entryTexts.get(entry) ?? JSON.stringify(entry);
  entryTexts.set(entry, text);
  return text;
}

const memberText = ([name, value]: [string, JsonValue]): string =>
  `${JSON.stringify(name)}:${Array.isArray(value) ? `[${value.map(entryText).join(',')}]` : JSON.stringify(value)}`;

/**
 * The bytes of `changed`, made of those that `original` was read from and the members that are new: a long conversation is copied instead
 * of written anew. Undefined when any member of `original` is gone or another object. Entries of new lists must never change.
 */
export function appendMembers(bytes: Uint8Array, original: JsonObject, changed: JsonObject): Uint8Array<ArrayBuffer> | undefined {
  for (const name in original) if (changed[name] !== original[name]) return undefined;
  const added = Object.entries(changed).filter(([name]) => !Object.hasOwn(original, name));
  const end = bytes.lastIndexOf(CLOSING_BRACE);
  if (end < 0) return undefined;
  const separator = Object.keys(original).length > 0 && added.length > 0 ? ',' : '';
  const tail = encoder.encode(`${separator}${added.map(memberText).join(',')}}`);
  const result = new Uint8Array(end + tail.length);
  result.set(bytes.subarray(0, end));
  result.set(tail, end);
  return result;
}
