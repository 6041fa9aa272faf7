import { ERROR_STATUS } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';

/** An event with its name, as the API writes it. https://docs.claude.com/en/docs/build-with-claude/streaming */
export const frame = (event: JsonObject): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

/** An event with the data that it came with, byte for byte. */
export const frameAsItCame = (event: JsonObject, data: string): string =>
  data.includes('\n') || data.includes('\r') ? frame(event) : `event: ${String(event.type)}\ndata: ${data}\n\n`;

/** The provider's own words for what went wrong, in an event that reports an error. */
export function readErrorEvent(event: JsonObject): { type: string; message: string } | undefined {
  if (event.type !== 'error' && !isJsonObject(event.error)) return undefined;
  const error = isJsonObject(event.error) ? event.error : {};
  return {
    type: typeof error.type === 'string' ? error.type : 'api_error',
    message: typeof error.message === 'string' ? error.message : 'The model provider reported an error',
  };
}

/** The API's names of errors by status. https://docs.claude.com/en/api/errors */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function errorBody(type: string, message: string, details?: JsonObject): JsonObject {
  return { type: 'error', error: { type, message, ...(details && { details }) } };
}

export const errorTypeOf = (status: number): string => ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** The type for one of our own codes; codes that callers never see are failures of the API. */
export const errorTypeOfCode = (code: string): string => errorTypeOf((ERROR_STATUS as Readonly<Record<string, number>>)[code] ?? 500);
