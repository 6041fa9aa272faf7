import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function followPointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function findAnchor(value: JsonValue, anchor: string): JsonValue | undefined {
  if (isJsonObject(value) && value.$anchor === anchor) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const member of Object.values(value)) {
    const found = findAnchor(member, anchor);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a `$ref` names: `#`, a JSON Pointer (RFC 6901) such as `#/$defs/name`, or an `$anchor`. Undefined when it is not in this schema. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  const fragment = decode(reference.slice(1));
  if (fragment === undefined) return undefined;
  if (fragment === '') return root;
  return fragment.startsWith('/') ? followPointer(root, fragment) : findAnchor(root, fragment);
}
