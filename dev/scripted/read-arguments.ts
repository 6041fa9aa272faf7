import { isJsonObject, type JsonObject } from '../../src/json.ts';

/** The arguments of a call as an object, for formats that have no other; undefined when the text is not one. */
export function readArguments(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
