import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A field in either of the spellings that the API takes (https://protobuf.dev/programming-guides/json/). */
export const fieldOf = (object: JsonObject, name: string): JsonValue | undefined => object[name] ?? object[toSnakeCase(name)];

export function objectOf(object: JsonObject, name: string): JsonObject | undefined {
  const value = fieldOf(object, name);
  return isJsonObject(value) ? value : undefined;
}

/** The first field that is not among the known ones, which are written in camel case. */
export const unknownField = (object: JsonObject, known: readonly string[]): string | undefined =>
  Object.keys(object).find((name) => !known.includes(name) && !known.includes(toCamelCase(name)));
