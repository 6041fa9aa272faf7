import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { requireDemand } from '../api/auth.ts';
import { ownerOf } from '../api/principal.ts';
import { AppError } from '../errors.ts';
import { describeUnexpected } from '../execution/describe-unexpected.ts';
import type { JsonObject } from '../json.ts';
import { APPROVAL_KEY, CONFIRMATION } from './asking.ts';
import { callIdOf } from './call-id.ts';
import type { Question } from './call-skill.ts';
import type { McpExchange } from './mcp-exchange.ts';
import { callOfferedSkill, findOfferedSkill } from './offered-tools.ts';
import type { ToolAnswer, ToolCall } from './tool.ts';
import { MCP_TOOLS } from './tools.ts';

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

function toolCallOf(exchange: McpExchange, { context, asking, progress }: CallOptions): ToolCall {
  const { services, principal, session, requestId, claimId, location, request, waitUntil } = exchange;
  const { id, signal } = context.mcpReq;
  return {
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
  };
}

/** What a name stands for; undefined when there is no such tool. */
async function findTool(
  exposesSkills: boolean,
  name: string,
  call: ToolCall,
): Promise<((input: JsonObject) => Promise<ToolAnswer>) | undefined> {
  const tool = MCP_TOOLS.find((each) => each.name === name);
  if (tool) {
    if (tool.scope) requireDemand(call.principal, tool.scope);
    return (input) => tool.call(input, call);
  }
  const skill = exposesSkills ? await findOfferedSkill(call, name) : undefined;
  return skill && ((input) => callOfferedSkill(skill, input, call));
}

/** Answers a call of one of our tools, or of a skill that is one. Rejects with a ProtocolError when it is no such call. */
export async function callTool(exchange: McpExchange, name: string, input: JsonObject, options: CallOptions) {
  const { services, requestId, exposesSkills } = exchange;
  const begun = services.now();
  // What a client makes up is not for the log.
  let tool = MCP_TOOLS.some((each) => each.name === name) ? name : '(unknown)';
  const log = (failed: boolean) => services.log.info('mcp.tool_call', { requestId, tool, failed, durationMs: services.now() - begun });
  try {
    const run = await findTool(exposesSkills, name, toolCallOf(exchange, options));
    if (run === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    tool = name;
    const result = toResult(await run(input));
    log('isError' in result);
    return result;
  } catch (error) {
    log(true);
    options.context.mcpReq.signal.throwIfAborted();
    if (error instanceof ProtocolError) throw error;
    return toFailure(error, exchange);
  }
}
