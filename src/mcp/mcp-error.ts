import type { Context } from 'hono';
import type { AppEnv } from '../api/app-env.ts';
import { readCredential } from '../api/auth.ts';
import { errorResponse } from '../api/error-response.ts';
import type { JsonObject } from '../json.ts';

/** Codes of JSON-RPC 2.0, section 5.1; -32000 is for what a server defines itself. */
const JSON_RPC_CODES: Record<string, number> = { invalid_json: -32700, invalid_request: -32600, internal_error: -32603 };
const SERVER_ERROR = -32000;

/** A failure of a whole request, as clients of MCP read it; `data.code` is the code of our own errors. */
export const jsonRpcError = ({ code, message }: { code: string; message: string }): JsonObject => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: JSON_RPC_CODES[code] ?? SERVER_ERROR, message, data: { code } },
});

const REALM = 'Bearer realm="OmniRoute Edge"';

/**
 * What the caller's credentials lack (RFC 6750, section 3): keys are given out by the operator, so there is no authorization server to name.
 * Undefined when they are not what is wrong.
 */
function challengeFor(status: number, c: Context<AppEnv>): string | undefined {
  // Before there is a principal, what is forbidden is the origin.
  if (status === 403) return c.get('principal') === undefined ? undefined : `${REALM}, error="insufficient_scope"`;
  if (status !== 401) return undefined;
  return readCredential(c) === undefined ? REALM : `${REALM}, error="invalid_token", error_description="No such API key"`;
}

export function mcpErrorResponse(error: unknown, c: Context<AppEnv>): Response {
  const response = errorResponse(error, c, jsonRpcError);
  const challenge = challengeFor(response.status, c);
  if (challenge !== undefined) response.headers.set('www-authenticate', challenge);
  return response;
}
