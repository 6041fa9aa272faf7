import { AppError } from '../errors.ts';
import { asText, isJsonObject, type JsonObject, objectsOf } from '../json.ts';
import type { CallVisibility, Reply, StreamRelay, ToolCall } from './adapter.ts';
import { readCallArguments } from './call-arguments.ts';
import { type CallFragment, createChatAssembler, type StreamedCall } from './openai-chat-assembler.ts';
import { composeReply } from './openai-chat-reply.ts';
import { parseEvent } from './parse-event.ts';

const frame = (body: JsonObject): string => `data: ${JSON.stringify(body)}\n\n`;

/** Throws `upstream_invalid` for what is no chunk, `upstream_failed` for an error that the provider reports in mid-stream. */
function parseChunk(data: string): JsonObject {
  const chunk = parseEvent(data);
  if (!isJsonObject(chunk.error)) return chunk;
  throw new AppError(
    'upstream_failed',
    typeof chunk.error.message === 'string' ? chunk.error.message : 'The model provider reported an error',
  );
}

/** The data as it came; JSON that was spread over several lines would break the frame. */
const frameAsItCame = (chunk: JsonObject, data: string): string => (data.includes('\n') ? frame(chunk) : `data: ${data}\n\n`);

const saysNothing = (delta: JsonObject): boolean =>
  Object.values(delta).every((value) => value === null || value === '' || typeof value === 'number');

/** Relays OpenAI chat streams of several rounds as one: one id, one role, gapless call indices, one finish, one usage, one `[DONE]`. */
export function createChatRelay(
  request: JsonObject,
  visibility: CallVisibility,
  onCallReady: (call: ToolCall) => void = () => {},
): StreamRelay {
  const wantsUsage = isJsonObject(request.stream_options) && request.stream_options.include_usage === true;
  let assembler = createChatAssembler();
  let round = 1;
  let done = false;
  let identity: JsonObject | undefined;
  let roleSent = false;
  let hiddenSeen = false;
  let announced = 0;
  const clientIndices = new Map<StreamedCall, number>();

  /** The first delta of a call of the client, with everything that has come of it. */
  function openCall(call: StreamedCall): JsonObject {
    const index = clientIndices.size;
    clientIndices.set(call, index);
    return {
      ...call.extra,
      index,
      id: visibility.clientCallId(call.id, hiddenSeen),
      type: 'function',
      function: { name: call.name, arguments: call.argumentText },
    };
  }

  /** What the client sees of a fragment: nothing of a hidden call, and nothing until the call's name and id are known. */
  function relayFragment({ call, fragment, argumentDelta }: CallFragment): JsonObject[] {
    const index = clientIndices.get(call);
    if (index !== undefined) {
      const { id: _, type: __, ...rest } = fragment;
      return [{ ...rest, index, function: { arguments: argumentDelta } }];
    }
    if (call.name === '') return [];
    if (visibility.isHidden(call.name)) {
      hiddenSeen = true;
      return [];
    }
    return call.id === '' ? [] : [openCall(call)];
  }

  /** A call is complete once another one follows it or the reply finishes. */
  function announceCalls(complete: number): void {
    for (; announced < complete; announced += 1) {
      const { id, name, argumentText } = assembler.calls[announced] as StreamedCall;
      if (id !== '' && visibility.isHidden(name)) onCallReady({ id, name, arguments: readCallArguments(argumentText) });
    }
  }

  function relayChunk(chunk: JsonObject, data: string): string {
    const calls = assembler.push(chunk).flatMap(relayFragment);
    const choice = objectsOf(chunk.choices)[0];
    if (choice === undefined) return '';
    const { tool_calls: fragments, ...spoken } = isJsonObject(choice.delta) ? choice.delta : {};
    const ends = choice.finish_reason !== null && choice.finish_reason !== undefined;
    announceCalls(assembler.calls.length - (ends ? 0 : 1));
    const repeatsRole = roleSent && 'role' in spoken;
    const isAsClientWants = round === 1 && fragments === undefined && !ends && !repeatsRole && (wantsUsage || !('usage' in chunk));
    roleSent ||= 'role' in spoken;
    if (isAsClientWants) return frameAsItCame(chunk, data);
    if (repeatsRole) delete spoken.role;
    if (calls.length === 0 && saysNothing(spoken)) return '';
    if (!roleSent) spoken.role = 'assistant';
    roleSent = true;
    const { usage: _, ...rest } = chunk;
    const delta = { ...spoken, ...(calls.length > 0 && { tool_calls: calls }) };
    return frame({ ...rest, ...identity, choices: [{ ...choice, delta, finish_reason: null }] });
  }

  /** Calls that never got an id from upstream get one of ours and are shown at the end of their round. */
  function nameCallsWithoutId(): JsonObject[] {
    return assembler.calls.flatMap((call, position) => {
      if (call.id !== '') return [];
      call.id = `call_${asText(identity?.id)}_${round}_${position}`;
      return call.name === '' || visibility.isHidden(call.name) ? [] : [openCall(call)];
    });
  }

  return {
    push(data) {
      if (data === '[DONE]') {
        done = true;
        return '';
      }
      const chunk = parseChunk(data);
      identity ??= { id: chunk.id ?? null, created: chunk.created ?? null, model: chunk.model ?? null };
      return relayChunk(chunk, data);
    },
    isOver: () => done,
    endRound() {
      if (assembler.finishReason === null && !done) throw new AppError('upstream_incomplete', "The model provider's stream ended early");
      const calls = nameCallsWithoutId();
      const response = assembler.response();
      assembler = createChatAssembler();
      announced = 0;
      round += 1;
      done = false;
      const delta = { ...(!roleSent && { role: 'assistant' }), tool_calls: calls };
      if (calls.length > 0) roleSent = true;
      const text = calls.length === 0 ? '' : frame({ ...chunkEnvelope(), choices: [{ index: 0, delta, finish_reason: null }] });
      return { response, text };
    },
    finish(reply: Reply) {
      const { usage, choices, omniroute, tool_results: toolResults } = composeReply(reply, visibility);
      const finishReason = objectsOf(choices)[0]?.finish_reason ?? null;
      const added = { ...(toolResults && { tool_results: toolResults }), omniroute: omniroute ?? null };
      const end = { ...chunkEnvelope(), choices: [{ index: 0, delta: {}, finish_reason: finishReason }] };
      if (!wantsUsage) return `${frame({ ...end, ...added })}data: [DONE]\n\n`;
      return `${frame(end)}${frame({ ...chunkEnvelope(), choices: [], usage: usage ?? null, ...added })}data: [DONE]\n\n`;
    },
    fail: ({ code, message }) => frame({ error: { message, type: 'server_error', param: null, code } }),
  };

  function chunkEnvelope(): JsonObject {
    return { object: 'chat.completion.chunk', ...identity };
  }
}
