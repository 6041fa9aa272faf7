import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { RequestFacts } from './adapter.ts';
import { clientToolNamesOf } from './openai-responses-echo.ts';
import { continuesStoredReply, inputItemsOf } from './openai-responses-rounds.ts';

const isMessage = (item: JsonObject): boolean => typeof item.role === 'string' && (item.type === undefined || item.type === 'message');

const textsOf = (content: JsonValue | undefined): string[] => {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
};

function checkInput(request: JsonObject): void {
  const { input } = request;
  if (typeof input === 'string' || (Array.isArray(input) && input.every(isJsonObject))) return;
  const isOptional = isJsonObject(request.prompt) || continuesStoredReply(request);
  if (isOptional && (input === undefined || input === null)) return;
  throw new AppError('invalid_request', 'input: a string or an array of item objects is required');
}

export function describeRequest(request: JsonObject): RequestFacts {
  if (typeof request.model !== 'string' || request.model === '') throw new AppError('invalid_request', 'model: a string is required');
  checkInput(request);
  const tools = request.tools ?? [];
  if (!Array.isArray(tools) || !tools.every(isJsonObject)) throw new AppError('invalid_request', 'tools: an array of objects is required');
  const messages = inputItemsOf(request).filter(isMessage);
  const instructions = textsOf(request.instructions);
  const systemTexts = messages
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .flatMap((message) => textsOf(message.content));
  const limit = request.max_output_tokens;
  return {
    model: request.model,
    stream: request.stream === true,
    texts: [request.model, ...instructions, ...messages.flatMap((message) => textsOf(message.content))],
    systemText: [...instructions, ...systemTexts].join('\n'),
    userMessageCount: messages.filter((message) => message.role === 'user').length,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    clientToolNames: new Set(clientToolNamesOf(request)),
    clientToolCount: tools.length,
    // The client of a background response asks the provider for it later, past us.
    acceptsTools: request.tool_choice !== 'none' && request.background !== true,
  };
}

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Models that cannot reason refuse a request for what they have thought; those that are not known are taken to reason. */
const isKnownNotToReason = (model: JsonValue | undefined): boolean => {
  const name = String(model).replace(/^.*\//, '').replace(/^ft:/, '');
  return /^(gpt-[34]|chatgpt-)/.test(name) || /-chat(-|$)/.test(name);
};

/** A provider that keeps nothing has to give reasoning in a form that can be sent back. */
export function askForReasoning(request: JsonObject): JsonObject {
  const include = asArray(request.include);
  if (request.store !== false || include.includes(ENCRYPTED_REASONING) || isKnownNotToReason(request.model)) return request;
  return { ...request, include: [...include, ENCRYPTED_REASONING] };
}

/** A choice that forces a call becomes the model's own; tools that the client ruled out stay out. */
export function releaseToolChoice(request: JsonObject): JsonObject {
  const choice = request.tool_choice;
  if (choice === 'required') return { ...request, tool_choice: 'auto' };
  if (!isJsonObject(choice)) return request;
  return { ...request, tool_choice: choice.type === 'allowed_tools' ? { ...choice, mode: 'auto' } : 'auto' };
}
