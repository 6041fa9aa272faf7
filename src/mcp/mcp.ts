import { type Context, Hono } from 'hono';
import type { AppEnv } from '../api/app-env.ts';
import { authenticate, requireDemand } from '../api/auth.ts';
import { readClientId } from '../api/client-id.ts';
import { ownerOf } from '../api/principal.ts';
import { parseJsonObject, readBytes } from '../api/request-body.ts';
import { locationOf } from '../api/request-location.ts';
import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { callIdOf } from './call-id.ts';
import { cancelCall } from './cancel-call.ts';
import { jsonRpcError, mcpErrorResponse } from './mcp-error.ts';
import { requireKnownOrigin } from './require-known-origin.ts';
import { readSession, SESSION_HEADER, sessionIdFor } from './session.ts';
import { takeAnswer } from './take-answer.ts';
import { streamToolChanges } from './tool-changes.ts';

function readExpose(c: Context<AppEnv>): boolean {
  const expose = c.req.query('expose');
  if (expose !== undefined && expose !== 'skills') throw new AppError('invalid_request', 'expose: the only value is skills');
  return expose === 'skills';
}

function methodNotAllowed(allowed: string): Response {
  const message = `Use ${allowed.replace(', ', ' or ')}: the server keeps no sessions`;
  return Response.json(jsonRpcError({ code: 'method_not_allowed', message }), { status: 405, headers: { allow: allowed } });
}

const isAnswer = (message: JsonObject): boolean =>
  message.jsonrpc === '2.0' && message.method === undefined && (message.result !== undefined || message.error !== undefined);

async function answerPost(c: Context<AppEnv>, exposesSkills: boolean, waitUntil: WaitUntil): Promise<Response> {
  const { services, principal, requestId } = c.var;
  const request = c.req.raw;
  const idempotencyKey = readClientId(c, 'idempotency-key');
  const message = parseJsonObject(await readBytes(request));
  const session = readSession(request.headers);
  const params = isJsonObject(message.params) ? message.params : {};
  if (isAnswer(message)) {
    await takeAnswer(services, principal, message);
    return new Response(null, { status: 202 });
  }
  if (message.method === 'notifications/cancelled' && session) {
    await cancelCall(services, ownerOf(principal), callIdOf(params.requestId, session));
  }
  // Most isolates never speak MCP, and its SDK takes longer to start than all the rest.
  const { serveMcp } = await import('./serve-mcp.ts');
  const response = await serveMcp({
    ...{ request, message, services, principal, requestId, session, exposesSkills, waitUntil },
    claimId: idempotencyKey ?? requestId,
    location: locationOf(request),
  });
  if (message.method === 'initialize' && response.ok) {
    response.headers.set(SESSION_HEADER, sessionIdFor(params.capabilities, services.newId));
  }
  return response;
}

async function answer(c: Context<AppEnv>): Promise<Response> {
  requireKnownOrigin(c.req.raw);
  await authenticate(c);
  await c.get('admission');
  const exposesSkills = readExpose(c);
  if (exposesSkills) requireDemand(c.var.principal, 'execute:skills');
  const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work);
  if (c.req.method === 'POST') return answerPost(c, exposesSkills, waitUntil);
  const allowed = exposesSkills ? 'GET, POST' : 'POST';
  if (c.req.method !== 'GET' || !exposesSkills) return methodNotAllowed(allowed);
  return streamToolChanges(c.var.services, ownerOf(c.var.principal), waitUntil);
}

/** The Model Context Protocol over streamable HTTP, without state in the server: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports */
export const mcp = new Hono<AppEnv>().all('/', (c) => answer(c).catch((error: unknown) => mcpErrorResponse(error, c)));
