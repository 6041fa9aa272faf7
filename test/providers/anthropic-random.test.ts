import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { normalizeResponse } from '../../src/providers/anthropic-blocks.ts';
import { call, fold, message, ping, readFrames, redacted, relay, streamOf, text, thinking, visibility } from './anthropic-events.ts';

const words = fc.string({ maxLength: 6 });
const input = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(words, fc.integer()), { maxKeys: 2 });
const block = fc.oneof(
  words.map(text),
  fc.tuple(words, fc.constantFrom('sig-1', 'sig-2')).map(([said, signature]) => thinking(said, signature)),
  fc.constant(redacted('blob')),
  fc.tuple(fc.nat(99), fc.constantFrom('own_a', 'own_b', 'theirs'), input).map(([id, name, value]) => call(`c${id}`, name, value)),
  input.map((value): JsonObject => ({ type: 'server_tool_use', id: 's1', name: 'web_search', input: value })),
);
const body = fc
  .tuple(fc.array(block, { maxLength: 5 }), fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'pause_turn', 'refusal'), fc.nat(9))
  .map(([content, reason, tokens]) => message(content, { stop_reason: reason, usage: { input_tokens: tokens, output_tokens: tokens } }));
const rounds = fc.array(body, { minLength: 1, maxLength: 3 });

const withPings = (events: JsonObject[], at: number[]): JsonObject[] =>
  at.reduce((list, position) => list.toSpliced(position % (list.length + 1), 0, ping), events);

describe('any reply', () => {
  it('reads the same, streamed and plain, whatever it holds and wherever pings stand', () => {
    fc.assert(
      fc.property(rounds, fc.array(fc.nat(40), { maxLength: 3 }), (bodies, pings) => {
        const streamed = relay(bodies.map((each) => withPings(streamOf(each), pings)));
        const plain = relay(bodies.map(streamOf)).plain;
        // Calls that come with one id are told apart.
        expect(streamed.responses).toEqual(bodies.map(normalizeResponse));
        expect(streamed.message).toEqual(plain);
        const hidden = bodies.flatMap((each) => anthropic.readTurn(each).calls.filter(({ name }) => visibility.isHidden(name)));
        expect(streamed.ready).toEqual(hidden);
        expect(streamed.sent).not.toContain('own_');
      }),
      { numRuns: 500 },
    );
  });

  it('that breaks off is never taken for a whole one', () => {
    fc.assert(
      fc.property(body, (each) => {
        const events = streamOf(each);
        for (let length = 0; length < events.length; length++) {
          const stream = anthropic.createRelay({}, visibility);
          const sent = events.slice(0, length).map((event) => stream.push(JSON.stringify(event)));
          expect(() => stream.endRound()).toThrow(AppError);
          expect(() => fold(readFrames(sent.join('')))).toThrow();
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Anything in place of any part of an event. */
const mutateValue = (value: JsonValue, path: number[], replacement: JsonValue): JsonValue => {
  if (typeof value !== 'object' || value === null || path.length === 0) return replacement;
  const keys = Object.keys(value);
  const key = keys[(path[0] as number) % Math.max(keys.length, 1)];
  if (key === undefined) return replacement;
  const changed = mutateValue((value as JsonObject)[key] as JsonValue, path.slice(1), replacement);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
};

const replacement = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
  fc.constantFrom<JsonValue>(
    'message_start',
    'content_block_start',
    'content_block_stop',
    'message_stop',
    'tool_use',
    'text',
    'own_a',
    0,
    1,
  ),
);
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(60) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(60), to: fc.nat(60) }),
  fc.record({
    kind: fc.constant('change' as const),
    at: fc.nat(60),
    path: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
    replacement,
  }),
);

function mutate(events: JsonValue[], change: typeof mutation extends fc.Arbitrary<infer Change> ? Change : never): JsonValue[] {
  const at = change.at % Math.max(events.length, 1);
  const event = events[at];
  if (event === undefined) return events;
  if (change.kind === 'drop') return events.toSpliced(at, 1);
  if (change.kind === 'repeat') return events.toSpliced(change.to % (events.length + 1), 0, event);
  return events.with(at, mutateValue(event, change.path, change.replacement));
}

describe('a stream in which anything may be wrong', () => {
  it('fails with an error that the client can read, or gives a message that is proper in itself', () => {
    let whole = 0;
    fc.assert(
      fc.property(rounds, fc.array(mutation, { minLength: 1, maxLength: 4 }), (bodies, mutations) => {
        const streams = bodies.map((each, round) =>
          mutations.filter((_, index) => index % bodies.length === round).reduce(mutate, streamOf(each) as JsonValue[]),
        );
        let read: ReturnType<typeof relay>;
        try {
          read = relay(streams.map((events) => events.map((event) => JSON.stringify(event))));
        } catch (error) {
          if (error instanceof AppError) return;
          throw error;
        }
        whole++;
        for (const events of streams) expect(events.some((event) => (event as JsonObject)?.type === 'message_stop')).toBe(true);
        for (const response of read.responses) {
          anthropic.readTurn(response);
          const { messages } = anthropic.appendToolResults({ messages: [] }, response, []);
          const inputs = (messages as JsonObject[]).flatMap(({ content }) =>
            (content as JsonObject[]).filter((each) => each.type === 'tool_use'),
          );
          for (const each of inputs) expect(each.id).toEqual(expect.any(String));
        }
      }),
      { numRuns: 2_000 },
    );
    expect(whole).toBeGreaterThan(100);
  }, 60_000);

  it('fails with an error for data that is no event', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
        const stream = anthropic.createRelay({}, visibility);
        try {
          expect(readFrames(stream.push(data)).length).toBeLessThan(2);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
        expect(() => stream.endRound()).toThrow(AppError);
      }),
      { numRuns: 500 },
    );
  });
});
