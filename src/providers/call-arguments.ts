import { isJsonObject, type JsonValue } from '../json.ts';
import type { CallArguments } from './adapter.ts';

/** Reads the arguments of a call: JSON text, or an object as some providers send it. Empty text means no arguments. */
export function readCallArguments(raw: JsonValue | undefined): CallArguments {
  if (isJsonObject(raw)) return { readable: true, value: raw };
  if (raw === undefined || raw === null) return { readable: true, value: {} };
  if (typeof raw !== 'string') return { readable: false, error: 'The arguments are not a JSON object' };
  if (raw.trim() === '') return { readable: true, value: {} };
  try {
    const value = JSON.parse(raw) as JsonValue;
    return isJsonObject(value) ? { readable: true, value } : { readable: false, error: 'The arguments are not a JSON object' };
  } catch (error) {
    return { readable: false, error: `The arguments are not valid JSON: ${error instanceof Error ? error.message : 'cannot be parsed'}` };
  }
}
