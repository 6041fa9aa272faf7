import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
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

/** A conversation that the provider keeps, so that a request holds what is new alone. https://docs.claude.com/en/api/messages */
const threadTypeOf = ({ thread }: JsonObject): JsonValue | undefined => (isJsonObject(thread) ? thread.type : undefined);

function describeRequest(request: JsonObject): RequestFacts {
  if (typeof request.model !== 'string' || request.model === '') throw new AppError('invalid_request', 'model: a string is required');
  const { messages } = request;
  const isContinued = threadTypeOf(request) === 'continue';
  if (!Array.isArray(messages) || (messages.length === 0 && !isContinued) || !messages.every(isJsonObject)) {
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
    // A kept conversation has the tools that it began with, and takes no others.
    acceptsTools: !isContinued && (!isJsonObject(request.tool_choice) || request.tool_choice.type !== 'none'),
  };
}

/** What the provider keeps would lack the calls that the client never sees. The API's own error makes its SDKs send the whole conversation. */
function injectTools(request: JsonObject, before: readonly JsonObject[], after: readonly JsonObject[]): JsonObject {
  if (threadTypeOf(request) !== undefined) {
    throw new AppError('thread_unsupported_request', 'thread: skills need the whole conversation in each request; send it without thread');
  }
  return { ...request, tools: [...before, ...asArray(request.tools), ...after] };
}

/** Thinking does not go together with a forced call, and a loop would never end with one. */
function releaseToolChoice(request: JsonObject): JsonObject {
  const choice = request.tool_choice;
  if (!isJsonObject(choice) || (choice.type !== 'any' && choice.type !== 'tool')) return request;
  const { name: _, ...rest } = choice;
  return { ...request, tool_choice: { ...rest, type: 'auto' } };
}

/** Details by which the API's SDKs tell errors apart. */
const DETAILS_OF_CODE: Readonly<Record<string, JsonObject>> = {
  thread_unsupported_request: { error_code: 'thread_unsupported_request', unsupported: ['tools'] },
};

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
  injectTools,
  isReply: ({ content }) => Array.isArray(content),
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
  errorBody: ({ status, code, message }) => errorBody(errorTypeOf(status), message, DETAILS_OF_CODE[code]),
};
