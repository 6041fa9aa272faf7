import { type JsonObject, objectsOf } from '../../src/json.ts';
import type { CallVisibility, Reply, ToolCall, ToolResult } from '../../src/providers/adapter.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';

/** Tools named `own…` are hidden; what a client sees of an id tells whether something hidden came before it. */
export const visibility: CallVisibility = {
  isHidden: (name) => name.startsWith('own'),
  clientCallId: (id, afterHidden) => `${id}${afterHidden ? '!' : '?'}`,
};

export const call = (id: string, name: string, args = '{}', extra: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
  ...extra,
});
export const reasoning = (id: string, extra: JsonObject = { encrypted_content: `secret-${id}` }): JsonObject => ({
  type: 'reasoning',
  id: `rs_${id}`,
  summary: [],
  ...extra,
});
export const message = (id: string, text: string, extra: JsonObject = {}): JsonObject => ({
  type: 'message',
  id: `msg_${id}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...extra,
});
export const output = (id: string, text: string): JsonObject => ({ type: 'function_call_output', call_id: id, output: text });
export const result = (callId: string): ToolResult => ({ callId, name: 'own_a', content: `{"of":"${callId}"}`, failed: false });
export const user = (content: string): JsonObject => ({ role: 'user', content });
export const usage = (tokens: number): JsonObject => ({
  input_tokens: tokens,
  input_tokens_details: { cached_tokens: 1 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: tokens + 2,
});
export const response = (id: string, items: JsonObject[], extra: JsonObject = {}): JsonObject => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: 1,
  model: 'gpt-5',
  status: 'completed',
  store: true,
  usage: usage(10),
  output: items,
  ...extra,
});
export const wrapper = (id: string, ...uses: [string, JsonObject][]): JsonObject =>
  call(id, 'parallel', JSON.stringify({ tool_uses: uses.map(([recipient_name, parameters]) => ({ recipient_name, parameters })) }));

const half = (text: string): [string, string] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];

/** The events of one item, as the API streams them. */
export function itemEvents(item: JsonObject, index: number): JsonObject[] {
  const place = { item_id: item.id ?? null, output_index: index };
  const begins = (started: JsonObject): JsonObject => ({ type: 'response.output_item.added', output_index: index, item: started });
  const ends: JsonObject = { type: 'response.output_item.done', output_index: index, item };
  if (item.type === 'function_call') {
    const text = String(item.arguments);
    const deltas = half(text).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta }));
    const done = { type: 'response.function_call_arguments.done', ...place, arguments: text };
    return [begins({ ...item, arguments: '', status: 'in_progress' }), ...deltas, done, ends];
  }
  if (item.type === 'custom_tool_call') {
    const deltas = half(String(item.input)).map((delta) => ({ type: 'response.custom_tool_call_input.delta', ...place, delta }));
    return [begins({ ...item, input: '' }), ...deltas, ends];
  }
  if (item.type === 'message') {
    const parts = objectsOf(item.content).flatMap((part, content_index) => {
      const at = { ...place, content_index };
      const [key, kind] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['text', 'output_text'];
      return [
        { type: 'response.content_part.added', ...at, part: { ...part, [key as string]: '' } },
        ...half(String(part[key as string])).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
        { type: `response.${kind}.done`, ...at, [key as string]: part[key as string] ?? '' },
        { type: 'response.content_part.done', ...at, part },
      ];
    });
    return [begins({ ...item, content: [], status: 'in_progress' }), ...parts, ends];
  }
  return [begins(item.type === 'reasoning' ? { ...item, encrypted_content: 'partial' } : item), ends];
}

/** The events that stream a body, numbered as the API does. */
export function eventsOf(body: JsonObject): JsonObject[] {
  const started = { ...body, status: 'in_progress', output: [], usage: null };
  return [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...objectsOf(body.output).flatMap(itemEvents),
    { type: `response.${String(body.status)}`, response: body },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

export function replyOf(responses: JsonObject[], inlineResults: ToolResult[] = []): Reply {
  const usageByRound = responses.map((round) => openAiResponses.readTurn(round).usage ?? null);
  return { responses, report: { rounds: responses.length, executions: [], usageByRound }, inlineResults };
}

export const parseFrames = (text: string): JsonObject[] =>
  text.split('\n\n').flatMap((frame) => (frame === '' ? [] : [JSON.parse(frame.replace(/^(event: .*\n)?data: /, '')) as JsonObject]));

export interface Relayed {
  text: string;
  events: JsonObject[];
  responses: JsonObject[];
  /** The response of the last event. */
  final: JsonObject;
  /** What a plain reply would have been. */
  plain: JsonObject;
  told: ToolCall[];
}

export interface RelayOptions {
  request?: JsonObject;
  seen?: CallVisibility;
  inlineResults?: ToolResult[];
}

/** Relays rounds of events to the end. */
export function relay(
  rounds: (JsonObject | string)[][],
  { request = {}, seen = visibility, inlineResults = [] }: RelayOptions = {},
): Relayed {
  const told: ToolCall[] = [];
  const stream = openAiResponses.createRelay(request, seen, (ready) => told.push(ready));
  let text = '';
  const responses = rounds.map((round) => {
    for (const event of round) text += stream.push(typeof event === 'string' ? event : JSON.stringify(event));
    const { response: assembled, text: rest } = stream.endRound();
    text += rest;
    return assembled;
  });
  const reply = replyOf(responses, inlineResults);
  text += stream.finish(reply);
  const events = parseFrames(text);
  return { text, events, responses, told, final: events.at(-1)?.response as JsonObject, plain: openAiResponses.composeReply(reply, seen) };
}
