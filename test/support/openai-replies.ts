import type { JsonObject } from '../../src/json.ts';
import { sendEvents, sendJson, type UpstreamHandler } from './mock-upstream.ts';

/** Calls as [id, name, arguments text]. */
export type ScriptedCall = [id: string, name: string, argumentText: string];

export interface ScriptedReply {
  text?: string;
  calls?: ScriptedCall[];
  finish?: string;
  id?: string;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const finishOf = ({ calls = [], finish }: ScriptedReply): string => finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');

/** A chat completion. */
export const plainReply = (reply: ScriptedReply): UpstreamHandler => {
  const toolCalls = (reply.calls ?? []).map(([id, name, text]) => ({ id, type: 'function', function: { name, arguments: text } }));
  const message = { role: 'assistant', content: reply.text ?? null, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
  return sendJson({
    id: reply.id ?? 'chatcmpl-mock',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'mock',
    choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
    usage: USAGE,
  });
};

export const chatChunk = (delta: JsonObject, finish: string | null = null, id = 'chatcmpl-mock'): JsonObject => ({
  id,
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'mock',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const chatChunks = (reply: ScriptedReply): (JsonObject | string)[] => {
  const id = reply.id ?? 'chatcmpl-mock';
  const calls = (reply.calls ?? []).flatMap(([callId, name, text], index) => [
    chatChunk({ tool_calls: [{ index, id: callId, type: 'function', function: { name, arguments: '' } }] }, null, id),
    ...(text.match(/.{1,4}/gs) ?? []).map((part) => chatChunk({ tool_calls: [{ index, function: { arguments: part } }] }, null, id)),
  ]);
  return [
    chatChunk({ role: 'assistant', content: '' }, null, id),
    ...(reply.text?.match(/.{1,5}/gs) ?? []).map((content) => chatChunk({ content }, null, id)),
    ...calls,
    chatChunk({}, finishOf(reply), id),
    { ...chatChunk({}, null, id), choices: [], usage: USAGE },
    '[DONE]',
  ];
};

/** The same reply as a stream. */
export const streamedReply = (reply: ScriptedReply): UpstreamHandler => sendEvents(...chatChunks(reply));

/** Plain or streamed, as it is asked for. */
export const chatReply =
  (reply: ScriptedReply): UpstreamHandler =>
  (request, response, closed) =>
    (request.body.stream === true ? streamedReply : plainReply)(reply)(request, response, closed);
