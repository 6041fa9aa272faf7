import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject } from '../json.ts';
import type { ProviderAdapter, RequestFacts } from './adapter.ts';
import { blocksOf, nameOf } from './anthropic-blocks.ts';
import { errorBody, errorTypeOf, frame } from './anthropic-event.ts';
import { appendToolResults, historyCallIds, removeInlineResults, restoreTurns, suspendTurn } from './anthropic-history.ts';
import { createAnthropicRelay } from './anthropic-relay.ts';
import { composeReply, readTurn } from './anthropic-reply.ts';
import { compileForAnthropic } from './anthropic-schema.ts';

const textsOf = (message: JsonObject): string[] =>
  blocksOf(message).flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? [block.text] : []));

/** A message in which a person speaks; one with nothing but tool results only answers the model. */
const isSpokenByUser = (message: JsonObject): boolean =>
  message.role === 'user' && blocksOf(message).some((block) => block.type !== 'tool_result');

function describeRequest(request: JsonObject): RequestFacts {
  if (typeof request.model !== 'string' || request.model === '') throw new AppError('invalid_request', 'model: a string is required');
  const { messages } = request;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject)) {
    throw new AppError('invalid_request', 'messages: an array of at least one message object is required');
  }
  const tools = request.tools ?? [];
  if (!Array.isArray(tools) || !tools.every(isJsonObject)) throw new AppError('invalid_request', 'tools: an array of objects is required');
  const system = [...textsOf({ content: request.system ?? [] }), ...messages.filter(({ role }) => role === 'system').flatMap(textsOf)];
  const spoken = messages.filter(({ role }) => role !== 'system').flatMap(textsOf);
  return {
    model: request.model,
    stream: request.stream === true,
    texts: [request.model, ...system, ...spoken],
    systemText: system.join('\n'),
    userMessageCount: messages.filter(isSpokenByUser).length,
    maxOutputTokens: typeof request.max_tokens === 'number' ? request.max_tokens : undefined,
    clientToolNames: new Set(tools.map(nameOf).filter((name) => name !== '')),
    clientToolCount: tools.length,
    acceptsTools: !isJsonObject(request.tool_choice) || request.tool_choice.type !== 'none',
  };
}

/** Thinking does not go together with a forced call, and a loop would never end with one. */
function releaseToolChoice(request: JsonObject): JsonObject {
  const choice = request.tool_choice;
  if (!isJsonObject(choice) || (choice.type !== 'any' && choice.type !== 'tool')) return request;
  const { name: _, ...rest } = choice;
  return { ...request, tool_choice: { ...rest, type: 'auto' } };
}

/** Anthropic Messages and what is compatible with it. https://docs.claude.com/en/api/messages */
export const anthropic: ProviderAdapter = {
  format: 'anthropic',
  hint: 'anthropic',
  // The API names no limit for a request; its largest documented catalogue of tools is this.
  maxTools: 10_000,
  keepalive: frame({ type: 'ping' }),
  probe: ':\n\n',
  defineTool: ({ name, description, parameters }) => ({ name, description, input_schema: compileForAnthropic(parameters) }),
  describeRequest,
  withModel: (request, model) => ({ ...request, model }),
  injectTools: (request, before, after) => ({ ...request, tools: [...before, ...asArray(request.tools), ...after] }),
  readTurn,
  appendToolResults,
  releaseToolChoice,
  forbidTools: (request) => ({ ...request, tool_choice: { type: 'none' } }),
  suspendTurn,
  historyCallIds,
  restoreTurns,
  removeInlineResults,
  composeReply,
  createRelay: createAnthropicRelay,
  prepareStream: (request) => request,
  errorBody: ({ status, message }) => errorBody(errorTypeOf(status), message),
};
