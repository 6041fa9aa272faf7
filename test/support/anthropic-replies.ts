import type { JsonObject } from '../../src/json.ts';
import { sendJson, sendNamedEvents, type UpstreamHandler } from './mock-upstream.ts';

export interface ScriptedMessage {
  content: JsonObject[];
  /** By default what fits the content. */
  stop?: string;
  id?: string;
}

const USAGE = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 2, output_tokens: 5 };

export const text = (words: string): JsonObject => ({ type: 'text', text: words });
export const thinking = (words: string, signature: string): JsonObject => ({ type: 'thinking', thinking: words, signature });
export const redactedThinking = (data: string): JsonObject => ({ type: 'redacted_thinking', data });
export const toolUse = (id: string, name: string, input: JsonObject = {}): JsonObject => ({ type: 'tool_use', id, name, input });

const stopOf = ({ content, stop }: ScriptedMessage): string =>
  stop ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn');

const bodyOf = (reply: ScriptedMessage): JsonObject => ({
  id: reply.id ?? 'msg_mock',
  type: 'message',
  role: 'assistant',
  model: 'claude-mock',
  content: reply.content,
  stop_reason: stopOf(reply),
  stop_sequence: null,
  usage: USAGE,
});

const pieces = (whole: string, length: number): string[] => whole.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];

export const blockDelta = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta });

/** Opens a block: emptied of what its deltas bring. */
export function blockStart(index: number, block: JsonObject): JsonObject {
  const emptied: JsonObject = { ...block };
  if (block.type === 'text') emptied.text = '';
  if (block.type === 'thinking') Object.assign(emptied, { thinking: '', signature: '' });
  if (block.type === 'tool_use') emptied.input = {};
  return { type: 'content_block_start', index, content_block: emptied };
}

function deltasOf(block: JsonObject, index: number): JsonObject[] {
  switch (block.type) {
    case 'text':
      return pieces(String(block.text), 5).map((piece) => blockDelta(index, { type: 'text_delta', text: piece }));
    case 'thinking':
      return [
        ...pieces(String(block.thinking), 5).map((piece) => blockDelta(index, { type: 'thinking_delta', thinking: piece })),
        blockDelta(index, { type: 'signature_delta', signature: block.signature ?? '' }),
      ];
    case 'tool_use':
      return ['', ...(JSON.stringify(block.input) === '{}' ? [] : pieces(JSON.stringify(block.input), 4))].map((piece) =>
        blockDelta(index, { type: 'input_json_delta', partial_json: piece }),
      );
    default:
      return [];
  }
}

export const messageStart = (id = 'msg_mock'): JsonObject => ({
  type: 'message_start',
  message: { ...bodyOf({ content: [], id }), stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
});

/** The events of a message as the API streams it. */
export const messageEvents = (reply: ScriptedMessage): JsonObject[] => [
  messageStart(reply.id),
  { type: 'ping' },
  ...reply.content.flatMap((block, index) => [blockStart(index, block), ...deltasOf(block, index), { type: 'content_block_stop', index }]),
  { type: 'message_delta', delta: { stop_reason: stopOf(reply), stop_sequence: null }, usage: { output_tokens: USAGE.output_tokens } },
  { type: 'message_stop' },
];

/** Plain or streamed, as it is asked for. */
export const messageReply =
  (reply: ScriptedMessage): UpstreamHandler =>
  (request, response, closed) =>
    (request.body.stream === true ? sendNamedEvents(...messageEvents(reply)) : sendJson(bodyOf(reply)))(request, response, closed);

export const errorReply = (status: number, type: string, message: string, headers: Record<string, string> = {}): UpstreamHandler =>
  sendJson({ type: 'error', error: { type, message }, request_id: 'req_mock' }, status, { 'request-id': 'req_mock', ...headers });
