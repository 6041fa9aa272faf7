import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import {
  body,
  call,
  chunk,
  end,
  mergeTexts,
  partial,
  partsOf,
  piece,
  readEvents,
  relay,
  result,
  signed,
  text,
  thought,
  visibility,
} from './gemini-chunks.ts';

const gemini = createGemini({ model: 'm', stream: true, framing: 'sse' });
const words = fc.string({ maxLength: 6 });
const names = fc.constantFrom('own_a', 'own_b', 'theirs', 'other');
const args = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 2 });
const callPart = fc
  .tuple(names, fc.option(args, { nil: undefined }), fc.option(fc.constantFrom('c1', 'c2'), { nil: undefined }), fc.boolean())
  .map(([name, value, id, isSigned]) => {
    const part = call(name, value, id === undefined ? {} : { id });
    return isSigned ? signed(part, `sig-${name}`) : part;
  });
const textPart = fc.tuple(words, fc.constantFrom('said', 'thought', 'signed')).map(([said, kind]) => {
  if (kind === 'thought') return thought(said);
  return kind === 'signed' ? signed(text(said), 'sig-text') : text(said);
});
const parts = fc.array(fc.oneof(textPart, callPart, fc.constant<JsonObject>({ executableCode: { code: '1' } })), { maxLength: 6 });
const rounds = fc.array(parts, { minLength: 1, maxLength: 3 });

const isText = (part: JsonObject): part is JsonObject & { text: string } => typeof part.text === 'string' && !('thoughtSignature' in part);

/** The pieces in which the arguments of a call may come. */
const piecesOf = (part: JsonObject, ended: boolean): JsonObject[] => {
  const { functionCall, ...rest } = part;
  if (!isJsonObject(functionCall)) return [part];
  const { args: value, ...named } = functionCall;
  const first = { ...rest, ...piece({ ...named, willContinue: true }) };
  const members = isJsonObject(value) ? Object.entries(value) : [];
  const pieces = members.flatMap(([name, member]) => {
    const path = `$.${name}`;
    if (member === null) return [partial(path, { nullValue: 'NULL_VALUE' })];
    if (typeof member === 'number') return [partial(path, { numberValue: member })];
    if (typeof member === 'boolean') return [partial(path, { boolValue: member })];
    const said = String(member);
    return [partial(path, { stringValue: said.slice(0, 2), willContinue: true }), partial(path, { stringValue: said.slice(2) })];
  });
  return [first, ...pieces, ...(ended ? [piece({})] : [])];
};

/** Cuts a reply into chunks: texts in the middle, several parts in one chunk. */
function streamOf(said: readonly JsonObject[], cuts: readonly number[], responseId = 'r1'): JsonObject[] {
  const pieces = said.flatMap((part, position) => {
    const cut = cuts[position % cuts.length] ?? 0;
    return isText(part)
      ? [
          { ...part, text: part.text.slice(0, cut) },
          { ...part, text: part.text.slice(cut) },
        ]
      : [part];
  });
  const chunks: JsonObject[] = [];
  for (let position = 0; position < pieces.length; ) {
    const length = 1 + ((cuts[position % cuts.length] ?? 0) % 3);
    chunks.push(chunk(pieces.slice(position, position + length), { responseId }));
    position += length;
  }
  return [...chunks, end({ responseId })];
}

const cuts = fc.array(fc.nat(5), { minLength: 1, maxLength: 5 });
const contentParts = (response: JsonObject | undefined): JsonObject[] => partsOf(response ? [response] : []);

describe('any reply', () => {
  it('reads the same, streamed and plain, wherever it is cut', () => {
    fc.assert(
      fc.property(rounds, cuts, fc.boolean(), (bodies, where, probed) => {
        const whole = bodies.map((said, position) => body(said, 'STOP', { responseId: `r${position}` }));
        const streamed = relay(
          bodies.map((said, position) => streamOf(said, where, `r${position}`)),
          { probed },
        );
        expect(streamed.responses.map(contentParts)).toEqual(bodies.map(mergeTexts));
        expect(streamed.responses.map((each) => gemini.readTurn(each).calls)).toEqual(whole.map((each) => gemini.readTurn(each).calls));
        expect(mergeTexts(streamed.parts)).toEqual(mergeTexts(contentParts(streamed.plain)));
        const hidden = whole.flatMap((each) => gemini.readTurn(each).calls.filter(({ name }) => visibility.isHidden(name)));
        expect(streamed.ready).toEqual(hidden);
        expect(streamed.sent).not.toContain('own_');
      }),
      { numRuns: 500 },
    );
  });

  it('reads the same when its arguments come in pieces', () => {
    fc.assert(
      fc.property(fc.array(callPart, { minLength: 1, maxLength: 4 }), fc.boolean(), (said, ended) => {
        const { responses, ready } = relay([[...said.flatMap((part) => piecesOf(part, ended)).map((part) => chunk([part])), end()]]);
        const { calls } = gemini.readTurn(body(said));
        expect(gemini.readTurn(responses[0] ?? {}).calls).toEqual(calls);
        expect(ready).toEqual(calls.filter(({ name }) => visibility.isHidden(name)));
        const signatures = (each: readonly JsonObject[]) => each.map(({ thoughtSignature }) => thoughtSignature);
        expect(signatures(contentParts(responses[0]))).toEqual(signatures(said));
        expect(JSON.stringify(responses)).not.toMatch(/partialArgs|willContinue/);
      }),
      { numRuns: 300 },
    );
  });

  it('that breaks off is never taken for a whole one', () => {
    fc.assert(
      fc.property(parts, cuts, (said, where) => {
        const events = streamOf(said, where);
        for (let length = 0; length < events.length; length++) {
          const stream = gemini.createRelay({}, visibility);
          const sent = events.slice(0, length).map((event) => stream.push(JSON.stringify(event)));
          expect(() => stream.endRound()).toThrow(AppError);
          expect(sent.join('')).not.toContain('finishReason');
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('any mixed turn', () => {
  it('comes back whole, with one result for each call in their order', () => {
    const mixed = fc
      .uniqueArray(fc.tuple(names, args), { minLength: 1, maxLength: 6, selector: ([name, value]) => name + JSON.stringify(value) })
      .filter((calls) => calls.some(([name]) => name === 'theirs'));
    fc.assert(
      fc.property(mixed, fc.boolean(), fc.boolean(), (calls, hasIds, dropsResultIds) => {
        const said = calls.map(([name, value], position) => call(name, value, hasIds ? { id: `c${position}` } : {}));
        const response = body([text('So. '), ...said]);
        const original: JsonObject = { contents: [{ role: 'user', parts: [text('go')] }] };
        const turn = gemini.readTurn(response).calls;
        const results = turn.map(({ id, name }) => result(id, { name }));
        const whole = gemini.appendToolResults(original, response, results);
        const owned = results.filter(({ name }) => visibility.isHidden(name));
        const transcript = gemini.suspendTurn(original, original, response, owned);

        const seen = { ...visibility, clientCallId: (id: string) => `${id}#T` };
        const report = { rounds: 1, executions: [], usageByRound: [] };
        const shown = contentParts(gemini.composeReply({ responses: [response], report, inlineResults: [] }, seen));
        const answers = shown.flatMap(({ functionCall }) => {
          if (!isJsonObject(functionCall)) return [];
          const id = String(functionCall.id);
          const output = { of: id.replace('#T', '') };
          return [{ functionResponse: { ...(!dropsResultIds && { id }), name: functionCall.name ?? null, response: { output } } }];
        });
        const echoed = { contents: [...objectsOf(original.contents), { role: 'model', parts: shown }, { role: 'user', parts: answers }] };
        expect(gemini.removeInlineResults(echoed)).toBe(echoed);
        expect(gemini.restoreTurns(echoed, (id) => (id.endsWith('#T') ? { id: id.slice(0, -2), transcript } : undefined))).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });
});

/** Anything in place of any part of an event. */
function mutate(value: JsonValue, path: readonly number[], replacement: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (typeof value !== 'object' || value === null || step === undefined) return replacement;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  if (Array.isArray(value)) return value.map((each, position) => (String(position) === key ? mutate(each, rest, replacement) : each));
  return { ...value, [key]: mutate(value[key] ?? null, rest, replacement) };
}

const replacement = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
  fc.constantFrom<JsonValue>(
    piece({}),
    partial('$.a', { numberValue: 1 }),
    partial('$.a.b', { stringValue: 'x' }),
    partial('$[9]', {}),
    piece({ name: 'own_a', partialArgs: 'x', willContinue: true }),
    { parts: {} },
    [{}],
  ),
);

/** True when the event tells that the reply is over. */
const isTerminal = (event: JsonValue): boolean => {
  if (!isJsonObject(event)) return false;
  const candidate = objectsOf(event.candidates)[0];
  const isBlocked = isJsonObject(event.promptFeedback) && typeof event.promptFeedback.blockReason === 'string';
  return (candidate?.finishReason ?? null) !== null || isBlocked;
};

describe('any stream', () => {
  it.each(['sse', 'json-array'] as const)('ends with a reply or an AppError, written as %s', (framing) => {
    const mutations = fc.array(fc.tuple(fc.nat(20), fc.array(fc.nat(5), { maxLength: 7 }), replacement), { maxLength: 3 });
    let whole = 0;
    fc.assert(
      fc.property(parts, cuts, mutations, fc.boolean(), (said, where, changes, streamed) => {
        const events: JsonValue[] = streamOf(streamed ? said.flatMap((part) => piecesOf(part, false)) : said, where);
        for (const [position, path, value] of changes) {
          const index = position % events.length;
          events[index] = mutate(events[index] ?? null, path, value);
        }
        const adapter = createGemini({ model: 'm', stream: true, framing });
        const stream = adapter.createRelay({}, visibility);
        let sent = '';
        try {
          for (const event of events) sent += stream.push(JSON.stringify(event)) + adapter.probe;
          const { response } = stream.endRound();
          expect(events.some(isTerminal)).toBe(true);
          const report = { rounds: 1, executions: [], usageByRound: [adapter.readTurn(response).usage ?? null] };
          sent += stream.finish({ responses: [response], report, inlineResults: [] });
          whole++;
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          sent += stream.fail(error);
        }
        const read = framing === 'sse' ? readEvents(sent) : (JSON.parse(sent) as JsonObject[]);
        expect(read.at(-1)).toSatisfy((last: JsonObject) => 'error' in last || 'omniroute' in last);
        expect(read.filter((each) => 'error' in each || 'omniroute' in each)).toHaveLength(1);
      }),
      { numRuns: 1_000 },
    );
    expect(whole).toBeGreaterThan(100);
  });
});
