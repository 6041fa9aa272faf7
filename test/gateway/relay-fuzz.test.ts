import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { readEventStream } from '../../src/gateway/event-stream.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import type { CallVisibility, ProviderAdapter } from '../../src/providers/adapter.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import { openAiChat } from '../../src/providers/openai-chat.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import { call, signed, text, thought } from '../providers/gemini-chunks.ts';
import { text as block, messageEvents, redactedThinking, thinking, toolUse } from '../support/anthropic-replies.ts';
import { contentChunks } from '../support/gemini-replies.ts';
import { chatChunks } from '../support/openai-replies.ts';
import { functionCall, message, reasoning, responseEvents } from '../support/responses-replies.ts';

const SAID = 'Ähm, 6 × 7 = 42 😀. ';
const ARGS = { path: 'größe😀.txt', lines: ['a\r\nb', '\u2028'] };
const ARGUMENT_TEXT = JSON.stringify(ARGS);

const visibility: CallVisibility = {
  isHidden: (name) => name.startsWith('own_'),
  clientCallId: (id, hidden) => `${id}${hidden ? '!' : '?'}`,
};

interface Format {
  /** A new one for each stream, as for each request. */
  adapter(): ProviderAdapter;
  request: JsonObject;
  /** Two rounds: calls of ours, then one of the client's. */
  rounds: (JsonObject | string)[][];
  /** Whether the data of an event ends the reply in this format. */
  isEnd(data: string): boolean;
  /** What the client reads of a stream. */
  read(sent: string): JsonValue[];
  isError(event: JsonValue): boolean;
}

/** The data of each event (https://html.spec.whatwg.org/multipage/server-sent-events.html), read at once and not as it comes. */
function eventsOf(sent: string): string[] {
  const events: string[] = [];
  let lines: string[] = [];
  for (const line of [...sent.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/), '']) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line !== '') {
      if (field === 'data') lines.push(value);
      continue;
    }
    if (lines.length > 0) events.push(lines.join('\n'));
    lines = [];
  }
  return events;
}

const parse = (data: string): JsonValue => (data === '[DONE]' ? data : (JSON.parse(data) as JsonValue));
const readEvents = (sent: string): JsonValue[] => eventsOf(sent).map(parse);
function attempt(data: string): JsonObject {
  try {
    const value = parse(data);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
const typeOf = (data: string): string => String(attempt(data).type);
const has = (event: JsonValue, field: string): boolean => isJsonObject(event) && event[field] !== undefined;

const gemini = (framing: 'sse' | 'json-array'): Format => ({
  adapter: () => createGemini({ model: 'm', stream: true, framing }),
  request: { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
  rounds: [
    contentChunks({ parts: [thought('Hm 😀'), text(SAID), signed(call('own_a', ARGS), 'sig'), call('own_b')] }),
    contentChunks({ parts: [signed(text(SAID), 'sig'), call('theirs', ARGS), call('own_a', {})], id: 'r2' }),
  ],
  isEnd(data) {
    const { candidates, promptFeedback } = attempt(data);
    return (
      (objectsOf(candidates)[0]?.finishReason ?? null) !== null || (isJsonObject(promptFeedback) && has(promptFeedback, 'blockReason'))
    );
  },
  read: framing === 'sse' ? readEvents : (sent) => JSON.parse(sent) as JsonValue[],
  isError: (event) => has(event, 'error'),
});

const FORMATS: Record<string, Format> = {
  'chat completions': {
    adapter: () => openAiChat,
    request: { model: 'm', messages: [{ role: 'user', content: 'go' }], stream_options: { include_usage: true } },
    rounds: [
      chatChunks({
        text: SAID,
        calls: [
          ['c1', 'own_a', ARGUMENT_TEXT],
          ['c2', 'own_b', ''],
        ],
      }),
      chatChunks({
        text: SAID,
        calls: [
          ['c3', 'theirs', ARGUMENT_TEXT],
          ['c4', 'own_a', '{}'],
        ],
        id: 'chatcmpl-2',
      }),
    ],
    isEnd: (data) => data === '[DONE]' || (objectsOf(attempt(data).choices)[0]?.finish_reason ?? null) !== null,
    read: readEvents,
    isError: (event) => has(event, 'error'),
  },
  responses: {
    adapter: () => openAiResponses,
    request: { model: 'm', input: 'go', store: false },
    rounds: [
      responseEvents(
        { output: [reasoning('rs_1', 'blob'), message(SAID), functionCall('c1', 'own_a', ARGUMENT_TEXT), functionCall('c2', 'own_b', '')] },
        {},
      ),
      responseEvents(
        { output: [message(SAID, 'msg_2'), functionCall('c3', 'theirs', ARGUMENT_TEXT), functionCall('c4', 'own_a', '{}')], id: 'resp_2' },
        {},
      ),
    ],
    isEnd: (data) => ['response.completed', 'response.incomplete', 'response.failed'].includes(typeOf(data)),
    read: readEvents,
    isError: (event) => has(event, 'type') && (event as JsonObject).type === 'response.failed',
  },
  messages: {
    adapter: () => anthropic,
    request: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'go' }] },
    rounds: [
      messageEvents({
        content: [thinking('Hm 😀', 'sig'), redactedThinking('blob'), block(SAID), toolUse('c1', 'own_a', ARGS), toolUse('c2', 'own_b')],
      }),
      messageEvents({ content: [block(SAID), toolUse('c3', 'theirs', ARGS), toolUse('c4', 'own_a')], id: 'msg_2' }),
    ],
    isEnd: (data) => typeOf(data) === 'message_stop',
    read: readEvents,
    isError: (event) => has(event, 'type') && (event as JsonObject).type === 'error',
  },
  generateContent: gemini('sse'),
  'generateContent as an array': gemini('json-array'),
};

const encoder = new TextEncoder();
const LINE_ENDS = ['\n', '\r\n', '\r'];

/** One event as a provider writes it. */
function frameOf(event: JsonObject | string, lineEnd: string): string {
  const name = typeof event === 'string' || typeof event.type !== 'string' ? '' : `event: ${event.type}${lineEnd}`;
  return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}${lineEnd}${lineEnd}`;
}

/** How a provider's bytes come in: where they are cut, and whether the connection breaks at their end. */
interface Delivery {
  cuts: readonly number[];
  breaks: boolean;
}

function deliver(bytes: Uint8Array, { cuts, breaks }: Delivery): ReadableStream<Uint8Array> {
  const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  const pieces = [0, ...borders].map((start, index) => bytes.subarray(start, borders[index] ?? bytes.length));
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (breaks) controller.error(new TypeError('socket'));
      else controller.close();
    },
  });
}

/** Relays the rounds as the gateway does, up to the failure that ends the stream, if there is one. */
async function relay(format: Format, rounds: readonly Uint8Array[], deliveries: readonly Delivery[]) {
  const adapter = format.adapter();
  const ready: string[] = [];
  const stream = adapter.createRelay(format.request, visibility, ({ name }) => ready.push(name));
  const responses: JsonObject[] = [];
  let request = format.request;
  let sent = '';
  const write = (piece: string): undefined => {
    sent += piece;
  };
  try {
    for (const [index, bytes] of rounds.entries()) {
      const body = deliver(bytes, deliveries[index] ?? { cuts: [], breaks: false });
      await readEventStream(body, new AbortController().signal, stream.push, write);
      const { response, text: rest } = stream.endRound();
      sent += rest;
      responses.push(response);
      const results = adapter.readTurn(response).calls.map(({ id, name }) => ({ callId: id, name, content: '{}', failed: false }));
      adapter.suspendTurn(format.request, request, response, results);
      request = adapter.releaseToolChoice(adapter.appendToolResults(request, response, results));
    }
    const usageByRound = responses.map((response) => adapter.readTurn(response).usage ?? null);
    const reply = { responses, report: { rounds: responses.length, executions: [], usageByRound }, inlineResults: [] };
    sent += stream.finish(reply);
    adapter.composeReply(reply, visibility);
    return { sent, ready, responses, failure: undefined };
  } catch (failure) {
    const { code, message: told } = failure as AppError;
    return { sent: sent + stream.fail({ code: String(code), message: told }), ready, responses, failure };
  }
}

const cuts = fc.array(fc.nat(), { maxLength: 40 });

describe.each(Object.entries(FORMATS))('streams of %s', (_, format) => {
  const bytesOf = (lineEnd: string, before = '') =>
    format.rounds.map((events) => encoder.encode(before + events.map((event) => frameOf(event, lineEnd)).join('')));

  it('give the client the same bytes wherever those of the provider are cut', async () => {
    const whole = await relay(format, bytesOf('\n'), []);
    expect(whole.failure).toBeUndefined();
    expect(whole.ready).toEqual(['own_a', 'own_b', 'own_a']);
    expect(whole.sent).not.toContain('own_');
    expect(format.read(whole.sent).length).toBeGreaterThan(5);
    expect(JSON.stringify(whole.responses)).toContain('größe😀.txt');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...LINE_ENDS),
        fc.constantFrom('', '\uFEFF', ': ping\n\n'),
        cuts,
        cuts,
        async (lineEnd, before, first, second) => {
          const deliveries = [first, second].map((each) => ({ cuts: each, breaks: false }));
          expect(await relay(format, bytesOf(lineEnd, before), deliveries)).toEqual(whole);
        },
      ),
      { numRuns: 150 },
    );
    for (const round of bytesOf('\r\n')) {
      const everywhere = { cuts: Array.from(round, (_, index) => index), breaks: false };
      expect((await relay(format, bytesOf('\r\n'), [everywhere, everywhere])).sent).toBe(whole.sent);
    }
  });

  type Mutation = (frames: string[], at: number, other: number) => string[];
  const MUTATIONS: Record<string, Mutation> = {
    drop: (frames, at) => frames.toSpliced(at, 1),
    double: (frames, at) => frames.toSpliced(at, 0, frames[at] ?? ''),
    swap: (frames, at, other) => frames.with(at, frames[other % frames.length] ?? '').with(other % frames.length, frames[at] ?? ''),
    truncate: (frames, at, other) => frames.with(at, (frames[at] ?? '').slice(0, other % ((frames[at] ?? '').length + 1))),
    end: (frames, at) => frames.slice(0, at),
    endWithin: (frames, at, other) => [...frames.slice(0, at), (frames[at] ?? '').slice(0, other % ((frames[at] ?? '').length + 1))],
    move: (frames, at, other) => frames.toSpliced(at, 1).toSpliced(other % frames.length, 0, frames[at] ?? ''),
  };
  const mutation = fc.record({ kind: fc.constantFrom(...Object.keys(MUTATIONS)), at: fc.nat(), other: fc.nat() });
  const flip = fc.record({ at: fc.nat(), bit: fc.nat(7) });
  const damage = fc.record({
    mutations: fc.array(mutation, { maxLength: 3 }),
    flips: fc.oneof(fc.constant([]), fc.array(flip, { maxLength: 3 })),
    lineEnd: fc.constantFrom(...LINE_ENDS),
    delivery: fc.record({ cuts, breaks: fc.integer({ max: 9, min: 0 }).map((value) => value === 0) }),
  });

  it('that are damaged end in an error of ours, or as the provider ended them', async () => {
    let clean = 0;
    let failed = 0;
    const property = fc.asyncProperty(damage, damage, async (...damages) => {
      const rounds = damages.map(({ mutations, flips, lineEnd }, round) => {
        const frames = (format.rounds[round] ?? []).map((event) => frameOf(event, lineEnd));
        const mutated = mutations.reduce(
          (all, { kind, at, other }) => (all.length === 0 ? all : (MUTATIONS[kind] as Mutation)(all, at % all.length, other)),
          frames,
        );
        const bytes = encoder.encode(mutated.join(''));
        for (const { at, bit } of flips) if (bytes.length > 0) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit);
        return bytes;
      });
      const { sent, responses, failure } = await relay(
        format,
        rounds,
        damages.map(({ delivery }) => delivery),
      );
      const events = format.read(sent);
      const isOver = (event: JsonValue) => format.isEnd(typeof event === 'string' ? event : JSON.stringify(event));
      for (const [round] of responses.entries()) {
        expect(eventsOf(new TextDecoder().decode(rounds[round])).some(format.isEnd)).toBe(true);
        expect(damages[round]?.delivery.breaks).toBe(false);
      }
      if (failure === undefined) {
        clean += 1;
        expect(isOver(events.at(-1) ?? null)).toBe(true);
        expect(events.some(format.isError)).toBe(false);
      } else {
        failed += 1;
        if (!(failure instanceof AppError)) throw failure;
        expect(format.isError(events.at(-1) ?? null)).toBe(true);
        expect(events.filter((event) => isOver(event) && !format.isError(event))).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: 700, timeout: 5_000 });
    expect(clean).toBeGreaterThan(10);
    expect(failed).toBeGreaterThan(100);
  }, 120_000);

  it('that are no events at all end in an error of ours', async () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string().map((each) => encoder.encode(`data: ${each}\n\n`)),
    );
    await fc.assert(
      fc.asyncProperty(noise, cuts, async (bytes, where) => {
        const { sent, failure } = await relay(format, [bytes], [{ cuts: where, breaks: false }]);
        expect(failure).toBeInstanceOf(AppError);
        expect(format.isError(format.read(sent).at(-1) ?? null)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('stop with the client, whatever is left of them', async () => {
    const [bytes = new Uint8Array()] = bytesOf('\n');
    await fc.assert(
      fc.asyncProperty(cuts, fc.nat(), async (where, after) => {
        const client = new AbortController();
        const reason = new Error('left');
        const stream = format.adapter().createRelay(format.request, visibility);
        let seen = 0;
        const read = readEventStream(
          deliver(bytes, { cuts: where, breaks: false }),
          client.signal,
          (data) => {
            seen += 1;
            if (seen > after % (format.rounds[0]?.length ?? 1)) client.abort(reason);
            return stream.push(data);
          },
          () => undefined,
        );
        await expect(read).rejects.toBe(reason);
      }),
      { numRuns: 50 },
    );
  });
});
