import { createMcpHandler, type ListToolsResult, type McpRequestContext, Server, type ServerContext } from '@modelcontextprotocol/server';
import { ownerOf } from '../api/principal.ts';
import type { JsonObject } from '../json.ts';
import { VERSION } from '../version.ts';
import { askingFor } from './asking.ts';
import { callTool } from './call-tool.ts';
import type { McpExchange } from './mcp-exchange.ts';
import { offeredSkills, toolOf } from './offered-tools.ts';
import { createProgress, type Progress } from './progress.ts';
import { MCP_TOOLS } from './tools.ts';
import { watchTools } from './watch-tools.ts';

/** Comments in the stream of a call, which is how the runtime notices that its client has left. */
const CALL_KEEP_ALIVE_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;
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
