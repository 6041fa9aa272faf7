import type { JsonObject, JsonValue } from '../../src/json.ts';
import type { CallVisibility, Reply, ToolCall, ToolResult } from '../../src/providers/adapter.ts';
import { anthropic } from '../../src/providers/anthropic.ts';

/** Hides what is called `own…`, and shows in a call's id what was asked for it. */
export const visibility: CallVisibility = {
  isHidden: (name) => name.startsWith('own'),
  clientCallId: (id, afterHidden) => `${id}${afterHidden ? '!' : '?'}`,
};

export const text = (words: string): JsonObject => ({ type: 'text', text: words });
export const thinking = (words: string, signature: string): JsonObject => ({ type: 'thinking', thinking: words, signature });
export const redacted = (data: string): JsonObject => ({ type: 'redacted_thinking', data });
export const call = (id: string, name: string, input: JsonValue = {}): JsonObject => ({ type: 'tool_use', id, name, input });
export const result = (callId: string, failed = false): ToolResult => ({ callId, name: 'own_a', content: `{"of":"${callId}"}`, failed });

export const message = (content: JsonObject[], fields: JsonObject = {}): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content,
  stop_reason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
  ...fields,
});

export const start = (fields: JsonObject = {}): JsonObject => ({
  type: 'message_start',
  message: message([], { stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 }, ...fields }),
});
export const open = (index: number, block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block: block });
export const delta = (index: number, fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: fields });
export const close = (index: number): JsonObject => ({ type: 'content_block_stop', index });
export const json = (index: number, partial: string): JsonObject => delta(index, { type: 'input_json_delta', partial_json: partial });
export const words = (index: number, added: string): JsonObject => delta(index, { type: 'text_delta', text: added });
export const end = (reason: string | null, fields: JsonObject = {}, usage: JsonObject = { output_tokens: 5 }): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null, ...fields },
  usage,
});
export const stop: JsonObject = { type: 'message_stop' };
export const ping: JsonObject = { type: 'ping' };

/** The events of one block as the API streams them, in two pieces where it has pieces. */
export function eventsOf(block: JsonObject, index: number): JsonObject[] {
  const halves = (whole: string) => [whole.slice(0, whole.length / 2), whole.slice(whole.length / 2)];
  switch (block.type) {
    case 'text':
      return [open(index, text('')), ...halves(String(block.text)).map((half) => words(index, half)), close(index)];
    case 'thinking': {
      const pieces = halves(String(block.thinking)).map((half) => delta(index, { type: 'thinking_delta', thinking: half }));
      const signature = delta(index, { type: 'signature_delta', signature: block.signature ?? '' });
      return [open(index, thinking('', '')), ...pieces, signature, close(index)];
    }
    case 'tool_use': {
      const whole = block.input && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
      return [
        open(index, { ...block, input: {} }),
        json(index, ''),
        ...(whole ? halves(whole).map((half) => json(index, half)) : []),
        close(index),
      ];
    }
    default:
      return [open(index, block), close(index)];
  }
}

/** The stream of a whole message. */
export function streamOf(body: JsonObject): JsonObject[] {
  const content = body.content as JsonObject[];
  const { stop_reason: reason, usage, ...rest } = body;
  return [start({ ...rest, content: [] }), ping, ...content.flatMap(eventsOf), end(reason as string, {}, usage as JsonObject), stop];
}

export interface Frame {
  name: string;
  data: JsonObject;
}

/** Reads what the client gets. Throws when it is not made of whole frames with a name that fits. */
export function readFrames(stream: string): Frame[] {
  if (stream !== '' && !stream.endsWith('\n\n')) throw new Error('the last frame is not whole');
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, name, data] = /^event: (\S+)\ndata: (.+)$/.exec(frame) ?? [];
      if (name === undefined || data === undefined) throw new Error(`no frame: ${frame}`);
      const event = JSON.parse(data) as JsonObject;
      if (event.type !== name) throw new Error(`${name} is called ${event.type}`);
      return { name, data: event };
    });
}

/** Relays rounds of events as the gateway does it. */
export function relay(rounds: (JsonObject | string)[][], inlineResults: ToolResult[] = [], sees = visibility) {
  const ready: ToolCall[] = [];
  const stream = anthropic.createRelay({}, sees, (told) => ready.push(told));
  let sent = '';
  const responses = rounds.map((round) => {
    for (const event of round) sent += stream.push(typeof event === 'string' ? event : JSON.stringify(event));
    const { response, text: rest } = stream.endRound();
    sent += rest;
    return response;
  });
  const usageByRound = responses.map((response) => anthropic.readTurn(response).usage ?? null);
  const reply: Reply = { responses, report: { rounds: rounds.length, executions: [], usageByRound }, inlineResults };
  sent += stream.finish(reply);
  const frames = readFrames(sent);
  return {
    sent,
    frames,
    names: frames.map(({ name }) => name),
    responses,
    ready,
    plain: anthropic.composeReply(reply, sees),
    message: fold(frames),
  };
}

function parseInput(input: string): JsonValue {
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}

/** The message as a client folds it: every event once, in order, for a block that is open. Throws when the stream is not a proper one. */
export function fold(frames: readonly Frame[]): JsonObject {
  let body: JsonObject | undefined;
  let stopped = false;
  const content: JsonObject[] = [];
  const opened = new Map<number, string>();
  for (const { name, data } of frames) {
    if (name === 'ping') continue;
    if (stopped) throw new Error(`${name} behind message_stop`);
    if (name === 'message_start') {
      if (body) throw new Error('two starts');
      body = data.message as JsonObject;
      continue;
    }
    if (!body) throw new Error(`${name} before message_start`);
    const index = data.index as number;
    const block = content[index];
    if (name === 'content_block_start') {
      if (index !== content.length) throw new Error(`block ${index} follows ${content.length} blocks`);
      content.push({ ...(data.content_block as JsonObject) });
      opened.set(index, '');
    } else if (name === 'content_block_delta') {
      if (!block || !opened.has(index)) throw new Error(`delta of block ${index}, which is not open`);
      const { type, partial_json: partial, citation, ...rest } = data.delta as JsonObject;
      if (type === 'input_json_delta') opened.set(index, `${opened.get(index)}${partial}`);
      else if (type === 'citations_delta') block.citations = [...((block.citations as JsonValue[]) ?? []), citation ?? null];
      else for (const [key, value] of Object.entries(rest)) block[key] = key === 'signature' ? value : `${block[key] ?? ''}${value}`;
    } else if (name === 'content_block_stop') {
      if (!block || !opened.has(index)) throw new Error(`stop of block ${index}, which is not open`);
      const input = opened.get(index);
      if (input) block.input = parseInput(input);
      opened.delete(index);
    } else if (name === 'message_delta') {
      if (opened.size > 0) throw new Error('message_delta while a block is open');
      body = { ...body, ...(data.delta as JsonObject), usage: { ...(body.usage as JsonObject), ...(data.usage as JsonObject) } };
    } else if (name === 'message_stop') {
      stopped = true;
      body = { ...body, ...(data.omniroute !== undefined && { omniroute: data.omniroute }) };
    }
  }
  if (!stopped) throw new Error('no message_stop');
  return { ...body, content };
}
