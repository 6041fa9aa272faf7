import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { AppError } from '../errors.ts';
import { describeUnexpected } from '../execution/describe-unexpected.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { AppEnv } from './app-env.ts';

type ErrorBody = (error: { status: number; code: string; message: string }) => JsonObject;

function asAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  // Hono's own exceptions are about what the caller sent, such as a body that cannot be parsed.
  if (error instanceof HTTPException && error.status < 500) return new AppError('invalid_request', error.message || 'Invalid request');
  return undefined;
}

/** Turns an error into a response: an AppError says what it is, anything else is logged and answered without detail. */
export function errorResponse(error: unknown, c: Context<AppEnv>, shape?: ErrorBody): Response {
  const known = asAppError(error);
  const { requestId, services } = c.var;
  if (known === undefined) {
    services.log.error('request.failed', { requestId, ...describeUnexpected(error) });
  }
  const { code, message, status, details } = known ?? {
    code: 'internal_error',
    message: 'Internal error',
    status: 500 as const,
    details: undefined,
  };
  if (code === 'rate_limited') c.header('retry-after', String(services.config.rateLimitPeriodSeconds));
  if (isJsonObject(details) && typeof details.retryAfterSeconds === 'number') c.header('retry-after', String(details.retryAfterSeconds));
  const body = shape ? shape({ status, code, message }) : { error: message, code, ...(details !== undefined && { details }) };
  return c.json(body, status);
}
