import { type Context, Hono } from 'hono';
import type { AppEnv } from '../api/app-env.ts';
import { authenticate } from '../api/auth.ts';
import { errorResponse } from '../api/error-response.ts';
import { ownerOf } from '../api/principal.ts';
import { readBytes } from '../api/request-body.ts';
import { AppError } from '../errors.ts';
import { A2AError } from './a2a-error.ts';
import { VERSION_HEADER } from './protocol-version.ts';

/** A failure before JSON-RPC is spoken: its status is HTTP's, and its body is an error of JSON-RPC as well. */
const rpcBody = ({ status, code, message }: { status: number; code: string; message: string }) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: status >= 500 ? -32603 : -32600, message, data: [{ code }] },
});

async function answer(c: Context<AppEnv>): Promise<Response> {
  if (c.req.method !== 'POST') {
    const message = 'Use POST: the endpoint takes JSON-RPC 2.0';
    return Response.json(rpcBody({ status: 405, code: 'method_not_allowed', message }), { status: 405, headers: { allow: 'POST' } });
  }
  await authenticate(c, 'read:skills');
  await c.get('admission');
  const { services, principal, requestId } = c.var;
  const bytes = await readBytes(c.req.raw);
  // Most isolates never speak A2A, whose schemas take a while to set up.
  const { serveA2A } = await import('./serve-a2a.ts');
  return serveA2A({
    services,
    bytes,
    version: c.req.header(VERSION_HEADER),
    caller: { apiKeyId: ownerOf(principal), remembersOutcomes: principal.kind === 'key' && principal.remembersOutcomes },
    requestId,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  });
}

function refuse(error: unknown, c: Context<AppEnv>): Response {
  if (error instanceof AppError && error.status === 401) c.header('www-authenticate', 'Bearer');
  return errorResponse(error, c, rpcBody);
}

/** JSON-RPC 2.0 of the Agent2Agent protocol, revisions 1.0 and 0.3. https://a2a-protocol.org/v1.0.0/specification/#9-json-rpc-protocol-binding */
export const a2a = new Hono<AppEnv>().all('/', (c) => answer(c).catch((error: unknown) => refuse(error, c)));

/** The agent's card, which everybody may read: it says nothing of keys and their skills. */
export const agentCards = new Hono<AppEnv>().on('ALL', ['/agent-card.json', '/agent.json'], async (c) => {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') throw new AppError('not_found', `No such endpoint: ${c.req.method} ${c.req.path}`);
  const { agentCard } = await import('./serve-a2a.ts');
  try {
    const card = agentCard(new URL(c.req.url).origin, c.req.header(VERSION_HEADER));
    return c.json(card, 200, { 'cache-control': 'public, max-age=300', vary: VERSION_HEADER });
  } catch (error) {
    if (error instanceof A2AError) throw new AppError('invalid_request', `${VERSION_HEADER}: ${error.message}`);
    throw error;
  }
});
