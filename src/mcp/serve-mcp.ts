import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type JSONRPCMessage,
  type ListToolsResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { requireDemand } from '../api/auth.ts';
import { ownerOf, type Principal } from '../api/principal.ts';
import type { RequestLocation } from '../api/request-location.ts';
import { AppError } from '../errors.ts';
import { describeUnexpected } from '../execution/describe-unexpected.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { VERSION } from '../version.ts';
import { approvalRequestId } from './approval-request-id.ts';
import { callIdOf } from './call-id.ts';
import type { Asking, Question } from './call-skill.ts';
import { callOfferedSkill, findOfferedSkill, offeredSkills, toolOf } from './offered-tools.ts';
import { createProgress, type Progress } from './progress.ts';
import { canElicit, type McpSession } from './session.ts';
import type { ToolAnswer, ToolCall } from './tool.ts';
import { MCP_TOOLS } from './tools.ts';
import { watchTools } from './watch-tools.ts';

/** One POST of a client, authenticated and read. */
export interface McpExchange {
  request: Request;
  message: JsonObject;
  services: Services;
  principal: Principal;
  requestId: string;
  /** `Idempotency-Key`, else the id of the request. */
  claimId: string;
  session: McpSession | undefined;
  /** Whether the skills that the key is offered are tools of their own. */
  exposesSkills: boolean;
  location: RequestLocation;
  waitUntil: WaitUntil;
}

/** Comments in the stream of a call, which is how the runtime notices that its client has left. */
const CALL_KEEP_ALIVE_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;
const APPROVAL_KEY = 'approval';
/** A person agrees or declines; there is nothing to fill in. */
const CONFIRMATION = { type: 'object' as const, properties: {} };
const TOOLS_PER_PAGE = 1_000;

const INSTRUCTIONS =
  'Skills are versioned units of work. omniroute_skills_list tells which there are and what input they take, omniroute_skills_execute runs one, omniroute_skills_executions tells what has been run.';

/** Answers a request or notification by the protocol's rules, in whichever revision the client speaks. */
export async function serveMcp(exchange: McpExchange): Promise<Response> {
  const { request, message, services, principal, exposesSkills, requestId, waitUntil } = exchange;
  const isCall = message.method === 'tools/call';
  const handler = createMcpHandler(({ era }) => createServer(exchange, era), {
    responseMode: isCall ? 'sse' : 'auto',
    keepAliveMs: isCall ? CALL_KEEP_ALIVE_MS : KEEP_ALIVE_MS,
    bus: {
      publish() {},
      subscribe: (listener) =>
        exposesSkills ? watchTools(services, ownerOf(principal), waitUntil, () => listener({ kind: 'tools_list_changed' })) : () => {},
    },
    // What the SDK says of a request that it refuses is in the answer; its messages may quote the client.
    onerror: ({ name }) => services.log.info('mcp.refused', { requestId, errorName: name }),
  });
  return handler.fetch(request, { parsedBody: message });
}

function createServer(exchange: McpExchange, era: McpRequestContext['era']): Server {
  const server = new Server(
    { name: 'omniroute-edge', title: 'OmniRoute Edge', version: VERSION },
    {
      capabilities: { tools: exchange.exposesSkills ? { listChanged: true } : {} },
      instructions: INSTRUCTIONS,
      // Its answers would have to come to this isolate.
      inputRequired: { legacyShim: false },
    },
  );
  server.setRequestHandler('tools/list', ({ params }) => listTools(exchange, params?.cursor));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(exchange, params.name, (params.arguments ?? {}) as JsonObject, {
      context,
      progress: progressFor(context),
      asking: askingFor(exchange, era, server, context),
    }),
  );
  return server;
}

async function listTools(
  { services, principal, exposesSkills, waitUntil }: McpExchange,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const own = MCP_TOOLS.map(({ name, title, description, annotations, inputSchema, outputSchema }) => ({
    ...{ name, title, description, annotations, inputSchema, outputSchema },
  }));
  const offered = exposesSkills ? await offeredSkills(services, ownerOf(principal), waitUntil) : [];
  // The cursor is the last tool's name, so that what is installed meanwhile shifts nothing.
  const rest = cursor === undefined ? offered : offered.filter(({ toolName }) => toolName > cursor);
  const page = rest.slice(0, TOOLS_PER_PAGE);
  const tools = [...(cursor === undefined ? own : []), ...page.map(toolOf)] as ListToolsResult['tools'];
  const last = page.at(-1);
  return { tools, ...(last && rest.length > page.length && { nextCursor: last.toolName }) };
}

function progressFor({ mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return createProgress(undefined);
  return createProgress((progress, message) => {
    // A client that has left is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  });
}

const clientCapabilitiesOf = (envelope: object | undefined): JsonValue | undefined =>
  (envelope as Record<string, JsonValue> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];

function askingFor({ session }: McpExchange, era: McpRequestContext['era'], server: Server, { mcpReq }: ServerContext): Asking {
  if (era === 'modern') {
    if (!canElicit(clientCapabilitiesOf(mcpReq.envelope))) return { by: 'none' };
    const approvalId = mcpReq.requestState();
    const response = inputResponse(mcpReq.inputResponses, APPROVAL_KEY);
    const isAnswered = typeof approvalId === 'string' && response.kind === 'elicit';
    return { by: 'repeat', answered: isAnswered ? { approvalId, accepts: response.action === 'accept' } : undefined };
  }
  if (!session?.canElicit) return { by: 'none' };
  return {
    by: 'stream',
    async send({ approvalId, message }) {
      const request: JSONRPCMessage = {
        jsonrpc: '2.0',
        id: approvalRequestId(approvalId),
        method: 'elicitation/create',
        params: { message, requestedSchema: CONFIRMATION },
      };
      await server.transport?.send(request, { relatedRequestId: mcpReq.id });
    },
  };
}

const needsInput = ({ approvalId, message }: Question): InputRequiredResult =>
  inputRequired({
    inputRequests: { [APPROVAL_KEY]: inputRequired.elicit({ message, requestedSchema: CONFIRMATION }) },
    requestState: approvalId,
  });

function toResult(answer: ToolAnswer): CallToolResult | InputRequiredResult {
  if ('asks' in answer) return needsInput(answer.asks);
  const { structured, text, failed = false, meta } = answer;
  return {
    content: [{ type: 'text', text: text ?? JSON.stringify(structured) }],
    structuredContent: structured,
    ...(failed && { isError: true }),
    ...(meta && { _meta: meta }),
  };
}

/** What the model at the client can mend or tell is a result; anything else is an error of the protocol. */
function toFailure(error: unknown, { services, requestId }: McpExchange): CallToolResult {
  if (error instanceof AppError) {
    const { code, message } = error;
    return { content: [{ type: 'text', text: JSON.stringify({ error: message, code }) }], isError: true };
  }
  services.log.error('mcp.failed', { requestId, ...describeUnexpected(error) });
  throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}

interface CallOptions extends Pick<ToolCall, 'asking' | 'progress'> {
  context: ServerContext;
}

async function callTool(exchange: McpExchange, name: string, input: JsonObject, { context, asking, progress }: CallOptions) {
  const { services, principal, session, requestId, claimId, location, request, waitUntil, exposesSkills } = exchange;
  const { id, signal } = context.mcpReq;
  const begun = services.now();
  const log = (tool: string, failed: boolean) =>
    services.log.info('mcp.tool_call', { requestId, tool, failed, durationMs: services.now() - begun });
  const toolCall = (): ToolCall => ({
    services,
    principal,
    context: {
      apiKeyId: ownerOf(principal),
      requestId: claimId,
      callId: callIdOf(id, session),
      logId: requestId,
      signal: AbortSignal.any([signal, request.signal]),
      location,
    },
    isCancellable: session !== undefined,
    asking,
    progress,
    waitUntil,
  });
  let known = '(unknown)';
  try {
    const call = toolCall();
    const tool = MCP_TOOLS.find((each) => each.name === name);
    if (tool) {
      known = name;
      if (tool.scope) requireDemand(principal, tool.scope);
      const result = toResult(await tool.call(input, call));
      log(known, 'isError' in result);
      return result;
    }
    const skill = exposesSkills ? await findOfferedSkill(call, name) : undefined;
    if (skill === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    known = name;
    const result = toResult(await callOfferedSkill(skill, input, call));
    log(known, 'isError' in result);
    return result;
  } catch (error) {
    log(known, true);
    signal.throwIfAborted();
    if (error instanceof ProtocolError) throw error;
    return toFailure(error, exchange);
  }
}
