import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import {
  call,
  eventsOf,
  message,
  parseFrames,
  reasoning,
  relay,
  replyOf,
  response,
  visibility,
  wrapper,
} from './openai-responses-fixture.ts';

const name = fc.constantFrom('own_a', 'own_b', 'theirs', 'more');
const item: fc.Arbitrary<(id: string) => JsonObject> = fc.oneof(
  fc.string().map((text) => (id: string) => message(id, text)),
  fc.constant((id: string) => reasoning(id)),
  fc.tuple(name, fc.json()).map(
    ([tool, args]) =>
      (id: string) =>
        call(`c${id}`, tool, args),
  ),
  fc
    .array(name, { minLength: 1, maxLength: 3 })
    .map((names) => (id: string) => wrapper(`c${id}`, ...names.map((tool): [string, JsonObject] => [`functions.${tool}`, {}]))),
  fc.constant((id: string): JsonObject => ({ type: 'custom_tool_call', id: `ct_${id}`, call_id: `c${id}`, name: 'sql', input: 'x' })),
  fc.constant((id: string): JsonObject => ({ type: 'web_search_call', id: `ws_${id}`, status: 'completed' })),
);
/** The replies of one to three rounds. */
const replies = fc.array(fc.array(item, { maxLength: 5 }), { minLength: 1, maxLength: 3 }).map((all) =>
  all.map((items, round) =>
    response(
      `${round}`,
      items.map((make, position) => make(`${round}${position}`)),
    ),
  ),
);

const withoutMarks = (output: JsonValue | undefined) => JSON.stringify(output).replaceAll(/[!?]"/g, '"');

describe('any replies', () => {
  it('are folded into what the provider would have said plainly, and shown as a plain reply shows them', () => {
    fc.assert(
      fc.property(replies, (bodies) => {
        const { responses, final, plain, events } = relay(bodies.map(eventsOf));
        expect(responses).toEqual(bodies);
        expect(withoutMarks(final.output)).toBe(withoutMarks(plain.output));
        expect({ ...final, output: [] }).toEqual({ ...plain, output: [] });
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, position) => position));
        const added = events.flatMap(({ type, output_index: index }) => (type === 'response.output_item.added' ? [index] : []));
        expect(added).toEqual(objectsOf(final.output).map((_, position) => position));
        const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
        expect(done).toEqual(final.output);
      }),
    );
  });

  it('hide every owned call and tell of each once', () => {
    fc.assert(
      fc.property(replies, (bodies) => {
        const { final, told } = relay(bodies.map(eventsOf));
        expect(objectsOf(final.output).some((each) => each.type === 'function_call' && String(each.name).startsWith('own'))).toBe(false);
        const owned = bodies.flatMap((body) => openAiResponses.readTurn(body).calls.filter((each) => visibility.isHidden(each.name)));
        expect(told).toEqual(owned);
      }),
    );
  });

  it('make no request that answers a call twice', () => {
    fc.assert(
      fc.property(replies, fc.boolean(), ([body = {}], store) => {
        const results = openAiResponses.readTurn(body).calls.map(({ id }) => ({ callId: id, name: '', content: '{}', failed: false }));
        const next = openAiResponses.appendToolResults({ model: 'm', input: 'go', store }, body, results);
        const answers = objectsOf(next.input).filter(({ type }) => type === 'function_call_output');
        const called = objectsOf(body.output).flatMap((each) => (each.call_id === undefined ? [] : [each.call_id]));
        expect(answers.map((answer) => answer.call_id)).toEqual(called);
      }),
    );
  });

  it('come back whole when their turn was suspended, echoed or continued', () => {
    fc.assert(
      fc.property(replies, fc.boolean(), ([body = {}], isEchoed) => {
        const { calls } = openAiResponses.readTurn(body);
        const hidden = calls.filter((each) => visibility.isHidden(each.name));
        fc.pre(hidden.length > 0 && hidden.length < calls.length);
        const original: JsonObject = { model: 'm', input: [{ role: 'user', content: 'go' }] };
        const results = hidden.map(({ id }) => ({ callId: id, name: '', content: 'ours', failed: false }));
        const transcript = openAiResponses.suspendTurn(original, original, body, results);
        const shown = objectsOf(
          openAiResponses.composeReply(replyOf([body]), { isHidden: visibility.isHidden, clientCallId: (id) => `${id}#T` }).output,
        );
        const own = shown.flatMap((each): JsonObject[] =>
          typeof each.call_id === 'string' ? [{ type: 'function_call_output', call_id: each.call_id, output: 'theirs' }] : [],
        );
        const request = isEchoed
          ? { model: 'm', tools: [{ type: 'function', name: 'theirs' }], input: [...objectsOf(original.input), ...shown, ...own] }
          : { model: 'm', previous_response_id: 'resp_0', input: own };
        const restored = openAiResponses.restoreTurns(openAiResponses.removeInlineResults(request), (id) =>
          id.endsWith('#T') ? { id: id.slice(0, -2), transcript } : undefined,
        );
        const items = objectsOf(restored.input);
        const answered = objectsOf(body.output).flatMap((each) => (each.call_id === undefined ? [] : [each.call_id]));
        expect(items.filter(({ type }) => type === 'function_call_output').map((each) => each.call_id)).toEqual(answered);
        const before = isEchoed ? [...objectsOf(original.input), ...objectsOf(body.output)] : [];
        expect(items.slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

type Mutation = (events: JsonObject[], position: number, value: JsonValue) => JsonObject[];
const replaceField =
  (field: string): Mutation =>
  (events, position, value) =>
    events.map((event, index) => (index === position ? { ...event, [field]: value } : event));
const MUTATIONS: Mutation[] = [
  (events, position) => events.filter((_, index) => index !== position),
  (events, position) => [...events, events[position] ?? {}],
  (events, position) => [...events.slice(position), ...events.slice(0, position)],
  ...['type', 'output_index', 'item_id', 'item', 'content_index', 'delta', 'arguments', 'part', 'response', 'sequence_number'].map(
    replaceField,
  ),
  (events, position, value) =>
    events.map((event, index) =>
      index === position && isJsonObject(event.item)
        ? { ...event, item: { ...event.item, type: value, call_id: value, name: value } }
        : event,
    ),
];
const mutation = fc.record({
  mutate: fc.constantFrom(...MUTATIONS),
  position: fc.nat(60),
  value: fc.oneof(
    fc.jsonValue().map((value) => value as JsonValue),
    fc.constantFrom<JsonValue>(-1, 1e9, 'own_a', 'function_call', 'response.output_item.done', '__proto__', { type: 'function_call' }),
  ),
});
const END_TYPES = ['response.completed', 'response.incomplete', 'response.failed'];

describe('any stream', () => {
  it('ends well with the provider’s own end alone, and otherwise with an error that is ours', () => {
    fc.assert(
      fc.property(replies, fc.array(mutation, { maxLength: 6 }), fc.nat(200), (bodies, mutations, cut) => {
        const stream = openAiResponses.createRelay({ model: 'm' }, visibility, () => {});
        let text = '';
        const responses: JsonObject[] = [];
        let failed: unknown;
        for (const body of bodies) {
          const events = mutations
            .reduce((all, { mutate, position, value }) => mutate(all, position % Math.max(1, all.length), value), eventsOf(body))
            .slice(0, cut);
          try {
            for (const event of events) text += stream.push(JSON.stringify(event));
            const { response: assembled, text: rest } = stream.endRound();
            text += rest;
            responses.push(assembled);
            expect(events.some(({ type }) => END_TYPES.some((end) => end === type))).toBe(true);
          } catch (error) {
            failed = error;
            break;
          }
        }
        if (failed !== undefined) expect(failed).toBeInstanceOf(AppError);
        text += failed === undefined ? stream.finish(replyOf(responses)) : stream.fail({ code: 'upstream_invalid', message: 'x' });
        const events = parseFrames(text);
        expect(events.filter(({ type }) => END_TYPES.some((end) => end === type))).toHaveLength(1);
        expect(END_TYPES).toContain(events.at(-1)?.type);
        expect(events[0]?.type).toBe('response.created');
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, position) => position));
        if (failed !== undefined) expect(events.at(-1)?.type).toBe('response.failed');
        for (const reply of responses) openAiResponses.appendToolResults({ input: 'go', store: false }, reply, []);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws anything but an error of ours on data of any kind', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (chunks) => {
        const stream = openAiResponses.createRelay({}, visibility);
        try {
          for (const data of chunks) stream.push(data);
          stream.endRound();
          expect.unreachable();
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});
