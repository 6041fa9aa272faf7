import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** Reads the data of one server-sent event that has to be a JSON object. Throws an AppError `upstream_invalid`. */
export function parseEvent(data: string): JsonObject {
  let event: JsonValue;
  try {
    event = JSON.parse(data) as JsonValue;
  } catch {
    throw new AppError('upstream_invalid', 'The model provider sent an event that is not JSON');
  }
  if (!isJsonObject(event)) throw new AppError('upstream_invalid', 'The model provider sent an event that is not an object');
  return event;
}
