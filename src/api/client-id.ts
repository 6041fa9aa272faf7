import type { Context } from 'hono';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';

const MAX_LENGTH = 255;

/** An id that the client chose, from a header. It becomes a key of stored rows, so it is short and printable. Throws `invalid_request`. */
export function readClientId(c: Context<AppEnv>, header: string): string | undefined {
  const value = c.req.header(header);
  if (value !== undefined && (value === '' || value.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(value))) {
    throw new AppError('invalid_request', `${header}: use 1 to ${MAX_LENGTH} printable characters`);
  }
  return value;
}
