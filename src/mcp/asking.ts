import {
  CLIENT_CAPABILITIES_META_KEY,
  inputResponse,
  type JSONRPCMessage,
  type McpRequestContext,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonValue } from '../json.ts';
import { approvalRequestId } from './approval-request-id.ts';
import type { Asking } from './call-skill.ts';
import type { McpExchange } from './mcp-exchange.ts';
import { canElicit } from './session.ts';

/** The name of the input that a call of a `hybrid` skill needs. */
export const APPROVAL_KEY = 'approval';
/** A person agrees or declines; there is nothing to fill in. */
export const CONFIRMATION = { type: 'object' as const, properties: {} };

const clientCapabilitiesOf = (envelope: object | undefined): JsonValue | undefined =>
  (envelope as Record<string, JsonValue> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];

/** How a person at this client can be asked about the call. */
export function askingFor({ session }: McpExchange, era: McpRequestContext['era'], server: Server, { mcpReq }: ServerContext): Asking {
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
