import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { JsonObject } from '../../src/json.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import {
  call,
  chunk,
  end,
  finishesOf,
  partial,
  piece,
  relay,
  result,
  signed,
  text,
  thought,
  unmarked,
  usage,
  visibility,
} from './gemini-chunks.ts';

const gemini = createGemini({ model: 'm', stream: true, framing: 'sse' });
const open = () => gemini.createRelay({}, visibility);
const readable = (value: JsonObject) => ({ readable: true, value });

const round1 = [
  chunk([thought('Hm. ')]),
  chunk([text('Let me see. ')]),
  chunk([signed(call('own_a', { x: 1 }), 'sig-1')]),
  end({ usageMetadata: usage(10) }),
];
const round2 = [
  chunk([text('It is ')], { responseId: 'r2', modelVersion: 'other' }),
  chunk([text('4.')], { responseId: 'r2' }),
  end({ responseId: 'r2', usageMetadata: usage(20) }),
];

describe('the Gemini relay', () => {
  it('shows two rounds as one life cycle', () => {
    const { sent, chunks, parts } = relay([round1, round2]);
    expect(parts).toEqual([thought('Hm. '), text('Let me see. '), text('It is '), text('4.'), text('')]);
    expect(new Set(chunks.map(({ responseId, modelVersion }) => `${responseId} ${modelVersion}`))).toEqual(new Set(['r1 gemini-test']));
    expect(finishesOf(chunks)).toEqual([undefined, undefined, undefined, undefined, 'STOP']);
    expect(chunks.filter((each) => 'usageMetadata' in each)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({
      usageMetadata: {
        promptTokenCount: 30,
        candidatesTokenCount: 2,
        totalTokenCount: 32,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 30 }],
      },
      omniroute: {
        rounds: 2,
        executions: [],
        usage_by_round: [
          { trafficType: 'ON_DEMAND', ...usage(10) },
          { trafficType: 'ON_DEMAND', ...usage(20) },
        ],
      },
    });
    expect(sent).not.toContain('own_a');
  });

  it('keeps fields that it does not know', () => {
    const { chunks } = relay([
      [chunk([text('a', { odd: [1] })], { more: { x: 1 } }, { index: 0, citationMetadata: { citations: [] } }), end()],
    ]);
    expect(chunks[0]).toEqual({
      candidates: [{ content: { role: 'model', parts: [{ text: 'a', odd: [1] }] }, citationMetadata: { citations: [] }, index: 0 }],
      more: { x: 1 },
      responseId: 'r1',
      modelVersion: 'gemini-test',
    });
  });

  it('shows what comes with the end once, at the end', () => {
    const finishing = chunk(
      [text('bye')],
      {},
      { finishReason: 'MAX_TOKENS', finishMessage: 'too long', safetyRatings: [{ probability: 'LOW' }] },
    );
    const { chunks } = relay([[finishing]]);
    expect(chunks).toHaveLength(2);
    expect(chunks[0]).not.toHaveProperty('candidates.0.safetyRatings');
    expect(chunks[1]).toMatchObject({
      candidates: [
        { content: { parts: [text('')] }, finishReason: 'MAX_TOKENS', finishMessage: 'too long', safetyRatings: [{ probability: 'LOW' }] },
      ],
    });
  });

  it('relays client calls as they come, and hides owned ones', () => {
    const { parts, responses, plain } = relay([
      [chunk([signed(call('own_a'), 's'), call('theirs', { b: 2 }, { id: 'c2' })]), chunk([call('more', {}, { id: 'c3' })]), end()],
    ]);
    const shown = [signed(call('theirs', { b: 2 }, { id: 'c2!' }), 'skip_thought_signature_validator'), call('more', {}, { id: 'c3!' })];
    expect(parts).toEqual([...shown, text('')]);
    expect(plain).toMatchObject({ candidates: [{ content: { role: 'model', parts: shown }, finishReason: 'STOP' }] });
    expect(gemini.readTurn(responses[0] ?? {}).calls).toEqual([
      { id: 'omr_call_r1_0', name: 'own_a', arguments: readable({}) },
      { id: 'c2', name: 'theirs', arguments: readable({ b: 2 }) },
      { id: 'c3', name: 'more', arguments: readable({}) },
    ]);
    expect(responses[0]).toMatchObject({
      candidates: [
        { content: { parts: [{ functionCall: { name: 'own_a' }, thoughtSignature: 's' }, { functionCall: { id: 'c2' } }, {}] } },
      ],
    });
  });

  it('marks a client call that goes out before anything is hidden as provisional', () => {
    const { parts } = relay([
      [chunk([signed(call('theirs', {}, { id: 'c1' }), 's')]), chunk([call('own_a')]), chunk([call('late')]), end()],
    ]);
    expect(parts.slice(0, 2)).toEqual([signed(call('theirs', {}, { id: 'c1?' }), 's'), call('late', undefined, { id: 'omr_call_r1_2!' })]);
  });

  it('shows a call that came without an id without one, unless there is something to mark', () => {
    const rounds = [[chunk([call('theirs', { a: 1 })]), end()]];
    const quiet = relay(rounds, { seen: unmarked });
    expect(quiet.parts[0]).toEqual(call('theirs', { a: 1 }));
    expect(quiet.plain).toMatchObject({ candidates: [{ content: { parts: [call('theirs', { a: 1 })] } }] });
    expect(relay(rounds).parts[0]).toEqual(call('theirs', { a: 1 }, { id: 'omr_call_r1_0?' }));
  });

  it('gives ids to calls that have none which differ from round to round', () => {
    const hidden = (responseId: string) => [chunk([call('own_a'), call('own_a')], { responseId }), end({ responseId })];
    const { ready } = relay([hidden('r1'), hidden('r2')]);
    expect(ready.map(({ id }) => id)).toEqual(['omr_call_r1_0', 'omr_call_r1_1', 'omr_call_r2_0', 'omr_call_r2_1']);
  });

  it('folds texts into the parts of a plain reply, apart from those that are signed', () => {
    const { responses } = relay([
      [
        chunk([thought('a')]),
        chunk([thought('b')]),
        chunk([text('c')]),
        chunk([signed(text('d'), 's')]),
        chunk([text('e')]),
        chunk([text('')]),
        chunk([text('f')]),
        chunk([signed(text(''), 't')], { usageMetadata: usage(10) }, { finishReason: 'STOP' }),
      ],
    ]);
    expect(responses[0]).toEqual({
      candidates: [
        {
          content: { role: 'model', parts: [thought('ab'), text('c'), signed(text('d'), 's'), text('ef'), signed(text(''), 't')] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { trafficType: 'ON_DEMAND', ...usage(10) },
      responseId: 'r1',
      modelVersion: 'gemini-test',
    });
  });

  it('says the same as a plain reply', () => {
    const { chunks, plain } = relay([round1, round2]);
    expect(plain).toMatchObject({
      candidates: [{ content: { role: 'model', parts: [thought('Hm. '), text('Let me see. '), text('It is 4.')] }, finishReason: 'STOP' }],
      responseId: 'r1',
      modelVersion: 'gemini-test',
    });
    for (const field of ['usageMetadata', 'omniroute']) expect(chunks.at(-1)?.[field]).toEqual(plain[field]);
  });

  it('puts the results of an inline reply into its last event', () => {
    const inlineResults = [result('omr_call_r1_0'), result('c2', { name: 'own_b', failed: true, content: '{"error":"no"}' })];
    const { parts, plain } = relay([[chunk([call('own_a'), call('own_b', {}, { id: 'c2' })]), end()]], {
      seen: { isHidden: () => false, clientCallId: (id) => id },
      inlineResults,
    });
    const results = [
      { functionResponse: { name: 'own_a', response: { output: { of: 'omr_call_r1_0' } } } },
      { functionResponse: { id: 'c2', name: 'own_b', response: { error: { error: 'no' } } } },
    ];
    expect(parts).toEqual([call('own_a'), call('own_b', {}, { id: 'c2' }), ...results]);
    expect(plain).toMatchObject({ candidates: [{ content: { parts } }] });
  });

  it('tells of a prompt that was blocked, which has no candidate', () => {
    const promptFeedback = { blockReason: 'SAFETY', safetyRatings: [] };
    const { chunks, responses } = relay([[{ promptFeedback, usageMetadata: usage(3), responseId: 'r1', modelVersion: 'v' }]]);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toMatchObject({ promptFeedback, usageMetadata: usage(3), responseId: 'r1', omniroute: { rounds: 1 } });
    expect(chunks[0]).not.toHaveProperty('candidates');
    expect(gemini.readTurn(responses[0] ?? {})).toMatchObject({ calls: [], cut: true });
  });

  it('tells what was found in a prompt that was not blocked once, at the end', () => {
    const promptFeedback = { safetyRatings: [{ probability: 'LOW' }] };
    const { chunks } = relay([[chunk([text('a')], { promptFeedback }), end()]]);
    expect(chunks.map((each) => each.promptFeedback)).toEqual([undefined, promptFeedback]);
  });

  it.each([[[chunk([text('half')])]], [[chunk([call('own_a')])]], [[]]])('refuses a stream that ends early: %j', (chunks) => {
    const stream = open();
    for (const event of chunks) stream.push(JSON.stringify(event));
    expect(() => stream.endRound()).toThrow("The model provider's stream ended early");
  });

  it('refuses events that are no chunks, and reports errors in mid-stream', () => {
    const stream = open();
    expect(() => stream.push('<html>')).toThrow('not JSON');
    expect(() => stream.push('[1]')).toThrow('not an object');
    expect(() => stream.push('{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}')).toThrow('overloaded');
    expect(() => stream.push('{"error":{}}')).toThrow('The model provider reported an error');
    expect(stream.push('[DONE]')).toBe('');
    expect(stream.fail({ code: 'upstream_failed', message: 'overloaded' })).toBe(
      'data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UPSTREAM_FAILED","domain":"omniroute"}]}}\n\n',
    );
    const odd = open();
    expect(() => odd.push('{"error":{"code":200,"message":"odd"}}')).toThrow('odd');
    expect(odd.fail({ code: 'upstream_failed', message: 'odd' })).toContain('"code":502,"message":"odd","status":"UNAVAILABLE"');
    expect(open().fail({ code: 'whatever', message: 'x' })).toContain('"code":500,"message":"x","status":"INTERNAL"');
  });
});

describe('arguments that are streamed', () => {
  const start = (name: string, more: JsonObject = {}) => chunk([piece({ name, willContinue: true, ...more })]);
  const more = (jsonPath: string, value: JsonObject) => chunk([partial(jsonPath, value)]);
  const done = chunk([piece({})]);
  const theirs = [start('theirs'), more('$.city', { stringValue: 'Os', willContinue: true }), more('$.city', { stringValue: 'lo' })];

  it.each([
    ['with the empty call that ends them', [...theirs, done, start('theirs'), done, end()]],
    ['without it', [...theirs, start('theirs'), end()]],
  ])('are relayed live and folded, %s', (_, chunks) => {
    const { parts, responses, plain } = relay([chunks as JsonObject[]]);
    expect(
      parts.filter(
        (part) =>
          'functionCall' in part &&
          !('name' in (part.functionCall as JsonObject)) &&
          Object.keys(part.functionCall as JsonObject).length > 0,
      ),
    ).toEqual([partial('$.city', { stringValue: 'Os', willContinue: true }), partial('$.city', { stringValue: 'lo' })]);
    expect(parts[0]).toEqual(piece({ name: 'theirs', willContinue: true, id: 'omr_call_r1_0?' }));
    expect(responses[0]).toMatchObject({ candidates: [{ content: { parts: [call('theirs', { city: 'Oslo' }), call('theirs', {})] } }] });
    expect(plain).toMatchObject({
      candidates: [
        { content: { parts: [call('theirs', { city: 'Oslo' }, { id: 'omr_call_r1_0?' }), call('theirs', {}, { id: 'omr_call_r1_1?' })] } },
      ],
    });
  });

  it('of hidden calls are hidden with them, and keep their signature', () => {
    const chunks = [
      chunk([signed(piece({ name: 'own_a', willContinue: true }), 'sig')]),
      more('$.x', { numberValue: 1 }),
      done,
      start('theirs'),
      more('$.y', { boolValue: true }),
      done,
      start('own_b'),
      more('$.z', { nullValue: 'NULL_VALUE' }),
      end(),
    ];
    const { parts, responses, ready } = relay([chunks]);
    expect(parts).toEqual([
      signed(piece({ name: 'theirs', willContinue: true, id: 'omr_call_r1_1!' }), 'skip_thought_signature_validator'),
      partial('$.y', { boolValue: true }),
      piece({}),
      text(''),
    ]);
    expect(responses[0]).toMatchObject({
      candidates: [
        { content: { parts: [signed(call('own_a', { x: 1 }), 'sig'), call('theirs', { y: true }), call('own_b', { z: null })] } },
      ],
    });
    expect(ready).toEqual([
      { id: 'omr_call_r1_0', name: 'own_a', arguments: readable({ x: 1 }) },
      { id: 'omr_call_r1_2', name: 'own_b', arguments: readable({ z: null }) },
    ]);
  });

  it.each<[string, JsonObject[], JsonObject]>([
    [
      'nested places',
      [
        { jsonPath: '$.a.b[0].c', numberValue: 1 },
        { jsonPath: '$.a.b[1]', stringValue: 'x' },
      ],
      { a: { b: [{ c: 1 }, 'x'] } },
    ],
    ['quoted names', [{ jsonPath: `$['a.b']["c\\"d"]`, boolValue: false }], { 'a.b': { 'c"d': false } }],
    ['an empty text', [{ jsonPath: '$.a', stringValue: '' }], { a: '' }],
    [
      'a text that starts anew',
      [
        { jsonPath: '$.a', stringValue: 'x' },
        { jsonPath: '$.a', stringValue: 'y' },
      ],
      { a: 'y' },
    ],
    ['a piece with nothing in it', [{ jsonPath: '$.a', stringValue: 'x', willContinue: true }, { jsonPath: '$.a' }], { a: 'x' }],
    [
      'several texts at once',
      [
        { jsonPath: '$.a', stringValue: 'x', willContinue: true },
        { jsonPath: '$.b', stringValue: 'y', willContinue: true },
        { jsonPath: '$.a', stringValue: 'X' },
        { jsonPath: '$.b', stringValue: 'Y' },
      ],
      { a: 'xX', b: 'yY' },
    ],
  ])('may hold %s', (_, partialArgs, args) => {
    const { ready } = relay([[chunk([piece({ name: 'own_a', willContinue: true, partialArgs })]), end()]]);
    expect(ready).toEqual([{ id: 'omr_call_r1_0', name: 'own_a', arguments: readable(args) }]);
  });

  it('may come at once, beside some that came whole', () => {
    const { ready } = relay([
      [chunk([piece({ name: 'own_a', args: { a: 1 }, partialArgs: [{ jsonPath: '$.b', numberValue: 2 }] })]), end()],
    ]);
    expect(ready).toMatchObject([{ arguments: readable({ a: 1, b: 2 }) }]);
  });

  it('may name a property __proto__', () => {
    const { responses } = relay([[start('own_a'), more('$.__proto__.a', { numberValue: 1 }), end()]]);
    expect(JSON.stringify(responses[0])).toContain('"args":{"__proto__":{"a":1}}');
    expect(({} as JsonObject).a).toBeUndefined();
  });

  it.each(['', '$', 'city', '$city', '$.', '$.a[', '$.a[x]', '$.a[5]', '$[0]', '$.a.b.c..d', `$${'.a'.repeat(65)}`, '$.s.t'])(
    'that lead nowhere end the stream: %s',
    (path) => {
      const stream = open();
      stream.push(JSON.stringify(start('own_a')));
      stream.push(JSON.stringify(more('$.s', { stringValue: 'text' })));
      const push = () => stream.push(JSON.stringify(more(path, { numberValue: 1 })));
      expect(push).toThrow(AppError);
      expect(push).toThrow('The model provider streamed arguments that cannot be put together');
    },
  );

  it('that belong to no call end the stream, and an end that ends nothing is left out', () => {
    const stream = open();
    expect(stream.push(JSON.stringify(done))).toBe('data: ');
    expect(() => stream.push(JSON.stringify(more('$.a', { numberValue: 1 })))).toThrow(
      'The model provider streamed arguments that belong to no call',
    );
  });
});

describe('calls that are ready', () => {
  it('are told of before the reply ends, once each and only when they are hidden', () => {
    const told: string[] = [];
    const stream = gemini.createRelay({}, visibility, ({ id, arguments: read }) => told.push(`${id} ${JSON.stringify(read)}`));
    const push = (event: JsonObject) => stream.push(JSON.stringify(event));
    push(chunk([call('own_a', { x: 1 }), call('theirs')]));
    expect(told).toEqual(['omr_call_r1_0 {"readable":true,"value":{"x":1}}']);
    push(chunk([piece({ name: 'own_b', willContinue: true })]));
    push(chunk([partial('$.a', { numberValue: 1 })]));
    expect(told).toHaveLength(1);
    push(chunk([piece({})]));
    expect(told.slice(1)).toEqual(['omr_call_r1_2 {"readable":true,"value":{"a":1}}']);
    push(end());
    expect(told).toHaveLength(2);
  });
});
