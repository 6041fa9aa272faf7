import { AppError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { McpSession } from './session.ts';

const MAX_ID_LENGTH = 200;

/**
 * The call id of a JSON-RPC request, which with the request's id, or its `Idempotency-Key`, claims the execution. The session stands in it, so
 * that a notification that cancels the request finds the execution. Throws `invalid_request`.
 */
export function callIdOf(id: JsonValue | undefined, session: McpSession | undefined): string {
  const text = JSON.stringify(id ?? null);
  if (text.length > MAX_ID_LENGTH) throw new AppError('invalid_request', `id: use at most ${MAX_ID_LENGTH} characters`);
  return ['mcp', ...(session ? [session.id] : []), text].join(':');
}
