export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value when it is an array, else an empty one: for reading bodies that others wrote. */
export const asArray = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

/** The objects of an array, leaving out everything else in it. */
export const objectsOf = (value: JsonValue | undefined): JsonObject[] => asArray(value).filter(isJsonObject);

/** The value without members that are null, when it is an object: models send null for a field that they mean to leave out. */
export const withoutNulls = (value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;

/** The value as a text when it is one or a number, else an empty one. */
export const asText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Deepest nesting of JSON that others send us. */
export const MAX_JSON_DEPTH = 64;

/** Whether the value nests more than `depth` arrays and objects. */
export function isDeeperThan(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1));
}

/** JSON text with object keys sorted at every level, so that equal values have equal texts (RFC 8785 without its number rules). */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}
