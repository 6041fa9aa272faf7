import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { blocksOfType, lastUserMessage, messagesOf } from './anthropic-blocks.ts';
import { countReplyTokens, countTokens } from './count-tokens.ts';
import { newId } from './new-id.ts';
import { readArguments } from './read-arguments.ts';
import type { OfferedTool, Reply, ScriptedCall, ToolResult, Turn } from './script.ts';
import { sign } from './sign.ts';
import { splitIntoSlices, splitIntoWords } from './split-text.ts';
import { textOf } from './text-of.ts';
import { thoughtsBefore } from './thoughts.ts';

// Anthropic Messages: https://platform.claude.com/docs/en/api/messages

const readTools = (tools: JsonValue | undefined): OfferedTool[] =>
  objectsOf(tools).flatMap(({ name, input_schema: schema }) =>
    typeof name === 'string' && isJsonObject(schema) ? [{ name, parameters: schema }] : [],
  );

function readToolChoice(choice: JsonValue | undefined): Turn['toolChoice'] {
  if (!isJsonObject(choice)) return 'auto';
  if (choice.type === 'tool' && typeof choice.name === 'string') return { name: choice.name };
  return choice.type === 'any' ? 'required' : choice.type === 'none' ? 'none' : 'auto';
}

/** What the conversation looks like from where the user last spoke. */
export function readTurn(request: JsonObject): Turn {
  const messages = messagesOf(request);
  const start = lastUserMessage(messages);
  const since = messages.slice(start + 1);
  const calls = since.flatMap((message) => blocksOfType(message, 'tool_use'));
  const results = since.flatMap((message) => blocksOfType(message, 'tool_result'));
  return {
    userText: textOf(blocksOfType(messages[start] ?? {}, 'text')),
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.tool_choice),
    results: results.map((block): ToolResult => {
      const called = calls.find(({ id }) => id === block.tool_use_id);
      return { name: String(called?.name ?? 'a tool'), text: textOf(block.content) };
    }),
    rounds: since.filter((message) => blocksOfType(message, 'tool_use').length > 0).length,
  };
}

/** Tokens of what the model reads. */
export const countInput = ({ system, messages, tools }: JsonObject): number => countTokens([system ?? '', messages ?? [], tools ?? []]);

const thinks = ({ thinking }: JsonObject): boolean => isJsonObject(thinking) && thinking.type !== 'disabled';

interface Thinking {
  thinking: string;
  signature: string;
}

function thinkBefore(request: JsonObject, reply: Reply): Thinking | undefined {
  if (!thinks(request)) return undefined;
  const thinking = thoughtsBefore(reply, readTurn(request).results.length);
  return { thinking, signature: sign('thinking', thinking) };
}

function countUsage(request: JsonObject, reply: Reply): JsonObject {
  const thought = thinkBefore(request, reply);
  return {
    input_tokens: countInput(request),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: countReplyTokens(reply) + (thought === undefined ? 0 : countTokens(thought.thinking)),
  };
}

const head = (request: JsonObject): JsonObject => ({
  id: newId('msg_01', 22),
  type: 'message',
  role: 'assistant',
  model: request.model ?? '',
});

const stopReason = (reply: Reply): string => (reply.calls.length > 0 ? 'tool_use' : 'end_turn');

const toolUse = (name: string, input: JsonObject): JsonObject => ({
  type: 'tool_use',
  id: newId('toolu_01', 22),
  name,
  input,
  caller: { type: 'direct' },
});

/** A call that a plain reply can hold: its input is an object, while a stream may carry what is none. */
function writeCall({ name, arguments: text }: ScriptedCall): JsonObject {
  const input = readArguments(text);
  return input === undefined ? { type: 'text', text: `My input for ${name} is no JSON object: ${text}` } : toolUse(name, input);
}

/** The body of a plain answer. */
export function writeReply(request: JsonObject, reply: Reply): JsonObject {
  const thought = thinkBefore(request, reply);
  const content = [
    ...(thought === undefined ? [] : [{ type: 'thinking', ...thought }]),
    ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
    ...reply.calls.map(writeCall),
  ];
  const called = content.some(({ type }) => type === 'tool_use');
  return {
    ...head(request),
    content,
    stop_reason: called ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: countUsage(request, reply),
  };
}

interface StreamedBlock {
  start: JsonObject;
  deltas: JsonObject[];
}

function streamedBlocks(request: JsonObject, reply: Reply): StreamedBlock[] {
  const thought = thinkBefore(request, reply);
  const thinking = thought && {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...splitIntoWords(thought.thinking).map((text) => ({ type: 'thinking_delta', thinking: text })),
      { type: 'signature_delta', signature: thought.signature },
    ],
  };
  const text = {
    start: { type: 'text', text: '' },
    deltas: splitIntoWords(reply.text).map((text) => ({ type: 'text_delta', text })),
  };
  const calls = reply.calls.map(({ name, arguments: input }) => ({
    start: toolUse(name, {}),
    // A call without arguments has the empty piece alone.
    deltas: ['', ...(input === '{}' ? [] : splitIntoSlices(input))].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  }));
  return [...(thinking === undefined ? [] : [thinking]), ...(reply.text === '' ? [] : [text]), ...calls];
}

/** The events of a streamed answer. */
export function writeEvents(request: JsonObject, reply: Reply): JsonObject[] {
  const usage = countUsage(request, reply);
  const blocks = streamedBlocks(request, reply).flatMap(({ start, deltas }, index) => [
    { type: 'content_block_start', index, content_block: start },
    ...(index === 0 ? [{ type: 'ping' }] : []),
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  const message = { ...head(request), content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
  return [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}
