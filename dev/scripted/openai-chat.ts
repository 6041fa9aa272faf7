import { asArray, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { countReplyTokens, countTokens } from './count-tokens.ts';
import { newId } from './new-id.ts';
import type { OfferedTool, Reply, ToolResult, Turn } from './script.ts';
import { splitIntoSlices, splitIntoWords } from './split-text.ts';
import { textOf } from './text-of.ts';

// OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat

function readTools(tools: JsonValue | undefined): OfferedTool[] {
  return objectsOf(tools).flatMap(({ function: definition }) =>
    isJsonObject(definition) && typeof definition.name === 'string'
      ? [{ name: definition.name, parameters: isJsonObject(definition.parameters) ? definition.parameters : {} }]
      : [],
  );
}

function readToolChoice(choice: JsonValue | undefined): Turn['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice;
  const demanded = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined;
  return typeof demanded === 'string' ? { name: demanded } : 'auto';
}

/** What the conversation looks like from where the user last spoke. */
export function readTurn(request: JsonObject): Turn {
  const messages = objectsOf(request.messages);
  const start = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(start + 1);
  const calls = since.flatMap((message) => objectsOf(message.tool_calls));
  const nameOf = (id: JsonValue | undefined): string => {
    const called = calls.find((call) => call.id === id)?.function;
    return isJsonObject(called) && typeof called.name === 'string' ? called.name : 'a tool';
  };
  return {
    userText: textOf(messages[start]?.content),
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.tool_choice),
    results: since
      .filter((message) => message.role === 'tool')
      .map((message): ToolResult => ({ name: nameOf(message.tool_call_id), text: textOf(message.content) })),
    rounds: since.filter((message) => asArray(message.tool_calls).length > 0).length,
  };
}

function countUsage(request: JsonObject, reply: Reply): JsonObject {
  const prompt = countTokens([request.messages ?? [], request.tools ?? []]);
  const completion = countReplyTokens(reply);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

const head = (request: JsonObject, object: string, now: number): JsonObject => ({
  id: newId('chatcmpl-', 29),
  object,
  created: Math.floor(now / 1_000),
  model: request.model ?? '',
});

const finishReason = (reply: Reply): string => (reply.calls.length > 0 ? 'tool_calls' : 'stop');

const choiceIndices = (request: JsonObject): number[] =>
  Array.from({ length: typeof request.n === 'number' ? request.n : 1 }, (_, index) => index);

/** The body of a plain answer. `now` is in milliseconds. */
export function writeReply(request: JsonObject, reply: Reply, now: number): JsonObject {
  const message = (): JsonObject => ({
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    refusal: null,
    ...(reply.calls.length === 0
      ? {}
      : { tool_calls: reply.calls.map((call) => ({ id: newId('call_', 24), type: 'function', function: { ...call } })) }),
  });
  return {
    ...head(request, 'chat.completion', now),
    choices: choiceIndices(request).map((index) => ({ index, message: message(), logprobs: null, finish_reason: finishReason(reply) })),
    usage: countUsage(request, reply),
  };
}

function replyDeltas(reply: Reply): JsonObject[] {
  const calls = reply.calls.flatMap((call, index) => [
    { tool_calls: [{ index, id: newId('call_', 24), type: 'function', function: { name: call.name, arguments: '' } }] },
    ...splitIntoSlices(call.arguments).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]);
  return [{ role: 'assistant', content: '', refusal: null }, ...splitIntoWords(reply.text).map((content) => ({ content })), ...calls];
}

/** The chunks of a streamed answer, without the closing `[DONE]`. `now` is in milliseconds. */
export function writeChunks(request: JsonObject, reply: Reply, now: number): JsonObject[] {
  const options = isJsonObject(request.stream_options) ? request.stream_options : {};
  const withUsage = options.include_usage === true;
  const shared = head(request, 'chat.completion.chunk', now);
  const chunk = (choices: JsonValue[], usage: JsonValue): JsonObject => ({ ...shared, choices, ...(withUsage ? { usage } : {}) });
  const chunks = choiceIndices(request).flatMap((index) => [
    ...replyDeltas(reply).map((delta) => chunk([{ index, delta, logprobs: null, finish_reason: null }], null)),
    chunk([{ index, delta: {}, logprobs: null, finish_reason: finishReason(reply) }], null),
  ]);
  return withUsage ? [...chunks, chunk([], countUsage(request, reply))] : chunks;
}
