import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { ProviderAdapter, RequestFacts, ToolResult } from './adapter.ts';
import { removeInlineResults, restoreTurns } from './openai-chat-history.ts';
import { createChatRelay } from './openai-chat-relay.ts';
import { composeReply, messageOf, normalizeResponse, readTurn, toolName } from './openai-chat-reply.ts';
import { compileForOpenAi } from './openai-schema.ts';

const textsOf = (content: JsonValue | undefined): string[] => {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
};

function describeRequest(request: JsonObject): RequestFacts {
  if (typeof request.model !== 'string' || request.model === '') throw new AppError('invalid_request', 'model: a string is required');
  const { messages } = request;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject)) {
    throw new AppError('invalid_request', 'messages: an array of at least one message object is required');
  }
  const tools = request.tools ?? [];
  if (!Array.isArray(tools) || !tools.every(isJsonObject)) throw new AppError('invalid_request', 'tools: an array of objects is required');
  const spoken = messages.filter((message) => message.role !== 'tool' && message.role !== 'function');
  const systemText = spoken
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .flatMap((message) => textsOf(message.content))
    .join('\n');
  const limit = request.max_completion_tokens ?? request.max_tokens;
  return {
    model: request.model,
    stream: request.stream === true,
    texts: [request.model, ...spoken.flatMap((message) => textsOf(message.content))],
    systemText,
    userMessageCount: spoken.filter((message) => message.role === 'user').length,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    clientToolNames: new Set(tools.flatMap((tool) => toolName(tool) ?? [])),
    clientToolCount: tools.length,
    acceptsTools: request.tool_choice !== 'none' && (typeof request.n !== 'number' || request.n <= 1),
  };
}

const toolMessage = (result: ToolResult): JsonObject => ({ role: 'tool', tool_call_id: result.callId, content: result.content });

const withMessages = (request: JsonObject, added: readonly JsonObject[]): JsonObject => ({
  ...request,
  messages: [...asArray(request.messages), ...added],
});

/** OpenAI Chat Completions and what is compatible with it. https://platform.openai.com/docs/api-reference/chat */
export const openAiChat: ProviderAdapter = {
  format: 'openai',
  hint: 'openai',
  maxTools: 128,
  keepalive: ': keepalive\n\n',
  probe: ':\n\n',
  defineTool: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: compileForOpenAi(parameters) },
  }),
  describeRequest,
  withModel: (request, model) => ({ ...request, model }),
  injectTools: (request, before, after) => ({ ...request, tools: [...before, ...asArray(request.tools), ...after] }),
  isReply: ({ choices }) => isJsonObject(objectsOf(choices)[0]?.message),
  readTurn: (response) => readTurn(normalizeResponse(response)),
  appendToolResults: (request, response, results) =>
    withMessages(request, [messageOf(normalizeResponse(response)), ...results.map(toolMessage)]),
  releaseToolChoice: (request) =>
    request.tool_choice === 'required' || isJsonObject(request.tool_choice) ? { ...request, tool_choice: 'auto' } : request,
  forbidTools: (request) => ({ ...request, tool_choice: 'none' }),
  suspendTurn: (original, request, response, results) => ({
    messages: [...asArray(request.messages).slice(asArray(original.messages).length), messageOf(normalizeResponse(response))],
    results: results.map(toolMessage),
  }),
  historyCallIds: (request) =>
    objectsOf(request.messages).flatMap((message) =>
      objectsOf(message.tool_calls).flatMap((call) => (typeof call.id === 'string' ? [call.id] : [])),
    ),
  restoreTurns,
  removeInlineResults,
  composeReply: (reply, visibility) => composeReply({ ...reply, responses: reply.responses.map(normalizeResponse) }, visibility),
  createRelay: createChatRelay,
  prepareStream: (request) => {
    const options = isJsonObject(request.stream_options) ? request.stream_options : {};
    return options.include_usage === true ? request : { ...request, stream_options: { ...options, include_usage: true } };
  },
  errorBody: ({ status, code, message }) => ({
    error: {
      message,
      type: status >= 500 ? 'server_error' : status === 401 ? 'authentication_error' : 'invalid_request_error',
      param: null,
      code,
    },
  }),
};
