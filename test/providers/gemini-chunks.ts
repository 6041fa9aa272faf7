import type { JsonObject, JsonValue } from '../../src/json.ts';
import type { CallVisibility, Reply, ToolCall, ToolResult } from '../../src/providers/adapter.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import type { GeminiFraming } from '../../src/providers/gemini-framing.ts';

export const visibility: CallVisibility = {
  isHidden: (name) => name.startsWith('own'),
  clientCallId: (id, afterHidden) => `${id}${afterHidden ? '!' : '?'}`,
};

/** Ids as they are while nothing is hidden for later. */
export const unmarked: CallVisibility = { ...visibility, clientCallId: (id) => id };

export const text = (said: string, more: JsonObject = {}): JsonObject => ({ text: said, ...more });
export const thought = (said: string): JsonObject => ({ text: said, thought: true });
export const call = (name: string, args?: JsonValue, more: JsonObject = {}): JsonObject => ({
  functionCall: { name, ...(args !== undefined && { args }), ...more },
});
export const signed = (part: JsonObject, signature: string): JsonObject => ({ ...part, thoughtSignature: signature });
export const piece = (named: JsonObject): JsonObject => ({ functionCall: named });
export const partial = (jsonPath: string, value: JsonObject, more: JsonObject = {}): JsonObject =>
  piece({ partialArgs: [{ jsonPath, ...value }], willContinue: true, ...more });

export const usage = (tokens: number): JsonObject => ({
  promptTokenCount: tokens,
  candidatesTokenCount: 1,
  totalTokenCount: tokens + 1,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
});

/** A whole reply. */
export const body = (parts: JsonObject[], finishReason: string | undefined = 'STOP', more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
  usageMetadata: usage(10),
  responseId: 'r1',
  modelVersion: 'gemini-test',
  ...more,
});

/** One chunk of a stream. */
export const chunk = (parts: JsonObject[], more: JsonObject = {}, candidate: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...candidate }],
  usageMetadata: { trafficType: 'ON_DEMAND' },
  responseId: 'r1',
  modelVersion: 'gemini-test',
  ...more,
});
export const end = (more: JsonObject = {}, finishReason = 'STOP'): JsonObject =>
  chunk([text('')], { usageMetadata: usage(10), ...more }, { finishReason });

export const result = (callId: string, more: Partial<ToolResult> = {}): ToolResult => ({
  callId,
  name: 'own_a',
  content: `{"of":"${callId}"}`,
  failed: false,
  ...more,
});

export interface RelayOptions {
  framing?: GeminiFraming;
  seen?: CallVisibility;
  inlineResults?: ToolResult[];
  /** True when the gateway probes a silent stream between all events. */
  probed?: boolean;
}

/** Relays rounds of chunks as the gateway does; returns what the client gets and what the gateway reads. */
export function relay(rounds: (JsonObject | string)[][], options: RelayOptions = {}) {
  const { framing = 'sse', seen = visibility, inlineResults = [], probed = false } = options;
  const adapter = createGemini({ model: 'm', stream: true, framing });
  const ready: ToolCall[] = [];
  const stream = adapter.createRelay({}, seen, (told) => ready.push(told));
  let sent = '';
  const probe = () => {
    if (probed) sent += adapter.probe + adapter.keepalive;
  };
  probe();
  const responses = rounds.map((round) => {
    for (const event of round) {
      sent += stream.push(typeof event === 'string' ? event : JSON.stringify(event));
      probe();
    }
    const { response, text: rest } = stream.endRound();
    sent += rest;
    probe();
    return response;
  });
  const usageByRound = responses.map((response) => adapter.readTurn(response).usage ?? null);
  const reply: Reply = { responses, report: { rounds: rounds.length, executions: [], usageByRound }, inlineResults };
  sent += stream.finish(reply);
  const chunks = framing === 'sse' ? readEvents(sent) : (JSON.parse(sent) as JsonObject[]);
  return { sent, chunks, parts: partsOf(chunks), responses, ready, plain: adapter.composeReply(reply, seen) };
}

/** The JSON of each event. */
export const readEvents = (sent: string): JsonObject[] =>
  sent.split('\n\n').flatMap((event) => {
    if (event.trim() === '') return [];
    if (!event.startsWith('data: ')) throw new Error(`no event: ${event}`);
    return [JSON.parse(event.slice('data: '.length)) as JsonObject];
  });

const candidatesOf = (each: JsonObject) => (each.candidates ?? []) as { content?: { parts?: JsonObject[] }; finishReason?: string }[];

export const partsOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  chunks.flatMap((each) => candidatesOf(each).flatMap(({ content }) => content?.parts ?? []));
export const finishesOf = (chunks: readonly JsonObject[]) => chunks.map((each) => candidatesOf(each)[0]?.finishReason);

/** Texts that follow each other as one, and nothing of those that are empty. */
export function mergeTexts(parts: readonly JsonObject[]): JsonObject[] {
  const isPlain = (part: JsonObject | undefined): part is JsonObject & { text: string } =>
    typeof part?.text === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought');
  const merged: JsonObject[] = [];
  for (const part of parts) {
    const before = merged.at(-1);
    if (isPlain(part) && isPlain(before) && before.thought === part.thought)
      merged.splice(-1, 1, { ...before, text: before.text + part.text });
    else if (!isPlain(part) || part.text !== '') merged.push(part);
  }
  return merged;
}
