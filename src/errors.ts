import type { JsonValue } from './json.ts';

/** Every error code that a caller can see, with its HTTP status. */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  marketplace_key_missing: 400,
  thread_unsupported_request: 400,
  unknown_handler: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  skill_not_found: 404,
  execution_not_found: 404,
  key_not_found: 404,
  marketplace_skill_not_found: 404,
  handler_not_found: 404,
  model_not_found: 404,
  conflict: 409,
  skill_exists: 409,
  skill_off: 409,
  handler_exists: 409,
  handler_in_use: 409,
  idempotency_conflict: 409,
  marketplace_inactive: 409,
  unknown_suspended_turn: 409,
  payload_too_large: 413,
  skill_too_large: 413,
  skill_unusable: 422,
  marketplace_rate_limited: 429,
  rate_limited: 429,
  internal_error: 500,
  marketplace_failed: 502,
  marketplace_invalid: 502,
  marketplace_unauthorized: 502,
  marketplace_unreachable: 502,
  upstream_failed: 502,
  upstream_incomplete: 502,
  upstream_invalid: 502,
  upstream_unreachable: 502,
  bad_configuration: 503,
  database_unavailable: 503,
  management_not_configured: 503,
  skills_disabled: 503,
  marketplace_timeout: 504,
  upstream_timeout: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** A failure that the caller can act on; the front that took the request turns it into an answer. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonValue | undefined;
  override readonly name = 'AppError';

  constructor(code: ErrorCode, message: string, details?: JsonValue) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status() {
    return ERROR_STATUS[this.code];
  }
}
