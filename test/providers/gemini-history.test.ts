import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import type { Transcript } from '../../src/providers/adapter.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import { body, call, result, signed, text, thought } from './gemini-chunks.ts';

const gemini = createGemini({ model: 'm', stream: false, framing: 'sse' });
const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: JsonObject[]): JsonObject => ({ role: 'model', parts });
const answer = (name: string, output: string, id?: string): JsonObject => ({
  functionResponse: { ...(id !== undefined && { id }), name, response: { output } },
});
const given = (callId: string, name: string): JsonObject => ({ functionResponse: { name, response: { output: { of: callId } } } });

describe('suspended turns', () => {
  const original: JsonObject = { contents: [user(text('go'))] };
  const hidden = gemini.appendToolResults(original, body([thought('hm'), text('One. '), signed(call('own_a', { x: 1 }), 'sig-1')]), [
    result('omr_call_r1_0'),
  ]);
  const mixedParts = [
    text('Two. '),
    signed(call('theirs', { n: 1 }), 'sig-2'),
    call('own_b'),
    call('theirs', { n: 2 }, { id: 'c3' }),
    call('other'),
  ];
  const mixed = body(mixedParts, 'STOP', { responseId: 'r2' });
  const transcript = JSON.parse(
    JSON.stringify(gemini.suspendTurn(original, hidden, mixed, [result('omr_call_r2_1', { name: 'own_b' })])),
  ) as Transcript;
  const marker = '#T';
  const turnOf = (id: string) => (id.endsWith(marker) ? { id: id.slice(0, -marker.length), transcript } : undefined);

  const shown = [
    call('theirs', { n: 1 }, { id: `omr_call_r2_0${marker}` }),
    call('theirs', { n: 2 }, { id: `c3${marker}` }),
    call('other', undefined, { id: `omr_call_r2_3${marker}` }),
  ];
  const answers = [
    answer('other', 'three', `omr_call_r2_3${marker}`),
    answer('theirs', 'two', `c3${marker}`),
    answer('theirs', 'one', `omr_call_r2_0${marker}`),
  ];
  const restoredTurn = [
    model(thought('hm'), text('One. '), signed(call('own_a', { x: 1 }), 'sig-1')),
    user(given('omr_call_r1_0', 'own_a')),
    model(...mixedParts),
    user(answer('theirs', 'one'), given('omr_call_r2_1', 'own_b'), answer('theirs', 'two', 'c3'), answer('other', 'three')),
  ];
  const restore = (...contents: JsonObject[]) => gemini.restoreTurns({ contents }, turnOf).contents;

  it('come back as if nothing had been hidden: signatures in place, results in call order, ids only where the provider gave them', () => {
    const contents = [user(text('go')), model(text('One. Two. '), ...shown), user(...answers), user(text('and now?'))];
    expect(gemini.historyCallIds({ contents })).toEqual([
      `omr_call_r2_0${marker}`,
      `c3${marker}`,
      `omr_call_r2_3${marker}`,
      `omr_call_r2_3${marker}`,
      `c3${marker}`,
      `omr_call_r2_0${marker}`,
    ]);
    expect(restore(...contents)).toEqual([user(text('go')), ...restoredTurn, user(text('and now?'))]);
  });

  it.each<[string, JsonObject[]]>([
    [
      'a content for each chunk',
      [model(text('One. ')), model(text('Two. '), shown[0]!), model(...shown.slice(1)), model(text('')), user(...answers)],
    ],
    ['a content for each result', [model(...shown), ...answers.map((part) => user(part))]],
    ['the role of functions', [model(...shown), { role: 'function', parts: answers }]],
    [
      'the other spelling',
      [
        model(...shown.map(({ functionCall }) => ({ function_call: functionCall ?? null }))),
        user(...answers.map(({ functionResponse }) => ({ function_response: functionResponse ?? null }))),
      ],
    ],
    ['ids in the calls alone', [model(...shown), user(answer('theirs', 'one'), answer('theirs', 'two'), answer('other', 'three'))]],
    ['ids in the results alone', [model(call('theirs', { n: 1 }), call('theirs', { n: 2 }), call('other')), user(...answers)]],
  ])('are found in a history with %s', (_, contents) => {
    const restored = restore(user(text('go')), ...contents) as JsonObject[];
    const spelled = JSON.parse(JSON.stringify(restored).replaceAll('function_response', 'functionResponse')) as JsonObject[];
    expect(spelled).toEqual([user(text('go')), ...restoredTurn]);
  });

  it('keep what the client said beside its results apart from them', () => {
    expect(restore(model(...shown), user(text('here:'), ...answers, text('and?')))).toEqual([
      ...restoredTurn,
      user(text('here:'), text('and?')),
    ]);
  });

  it('leave out results that the client did not give, and keep those that nobody asked for', () => {
    const contents = restore(model(...shown), user(answers[1]!, answer('stray', 'x'))) as JsonObject[];
    expect(contents.at(-1)).toEqual(user(given('omr_call_r2_1', 'own_b'), answer('theirs', 'two', 'c3'), answer('stray', 'x')));
  });

  it('restore every turn of a conversation', () => {
    expect(restore(model(...shown), user(...answers), model(text('ok')), user(text('again')), model(...shown), user(...answers))).toEqual([
      ...restoredTurn,
      model(text('ok')),
      user(text('again')),
      ...restoredTurn,
    ]);
  });

  it('without a transcript only lose their markers', () => {
    const contents = [user(text('go')), model(text('One. '), ...shown), user(...answers)];
    const restored = gemini.restoreTurns({ contents, more: 1 }, (id) => (id.endsWith(marker) ? { id: id.slice(0, -2) } : undefined));
    expect(restored).toEqual({
      contents: [
        user(text('go')),
        model(text('One. '), call('theirs', { n: 1 }), call('theirs', { n: 2 }, { id: 'c3' }), call('other')),
        user(answer('other', 'three'), answer('theirs', 'two', 'c3'), answer('theirs', 'one')),
      ],
      more: 1,
    });
  });

  it('stay as the client has them when it dropped all ids', () => {
    const contents = [user(text('go')), model(call('theirs', { n: 1 })), user(answer('theirs', 'one'))];
    expect(gemini.historyCallIds({ contents })).toEqual([]);
    expect(restore(...contents)).toEqual(contents);
  });
});

describe('removeInlineResults', () => {
  const inline = { functionResponse: { name: 'own_a', response: { output: {} } } };
  const tools = [{ functionDeclarations: [{ name: 'theirs' }] }];

  it('returns the same object when there is nothing to take out', () => {
    const request = {
      tools,
      contents: [
        user(text('go')),
        model(call('x')),
        user({ functionResponse: { name: 'x', response: {} } }),
        model(call('theirs')),
        user(text('no')),
        model({ toolCall: { id: 's', toolType: 'GOOGLE_SEARCH_WEB' } }, { toolResponse: { id: 's' } }, text('found')),
        user(text('ok')),
      ],
    };
    expect(gemini.removeInlineResults(request)).toBe(request);
  });

  it('takes out results within a reply and their calls', () => {
    const contents = [
      user(text('go')),
      model(text('One.'), signed(call('own_a'), 'sig'), call('theirs', {}), inline),
      user(answer('theirs', 'one')),
      model(call('own_a'), inline),
      user(text('next')),
    ];
    expect(gemini.removeInlineResults({ tools, contents })).toEqual({
      tools,
      contents: [
        user(text('go')),
        model(text('One.'), signed(call('theirs', {}), 'skip_thought_signature_validator')),
        user(answer('theirs', 'one')),
        user(text('next')),
      ],
    });
  });

  it('takes out calls whose results the client dropped, in a history with a content for each chunk', () => {
    const contents = [user(text('go')), model(text('One.')), model(call('own_a')), model(text('Two.')), user(text('next'))];
    expect(gemini.removeInlineResults({ contents }).contents).toEqual([
      user(text('go')),
      model(text('One.')),
      model(text('Two.')),
      user(text('next')),
    ]);
  });

  it('tells two calls of one name apart by what is answered', () => {
    const contents = [model(call('x', { n: 1 }, { id: 'a' }), call('x', { n: 2 }, { id: 'b' })), user(answer('x', 'two', 'b'))];
    expect(gemini.removeInlineResults({ contents }).contents).toEqual([
      model(call('x', { n: 2 }, { id: 'b' })),
      user(answer('x', 'two', 'b')),
    ]);
  });
});
