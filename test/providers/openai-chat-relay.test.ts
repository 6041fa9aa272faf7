import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import type { CallVisibility, Reply } from '../../src/providers/adapter.ts';
import { openAiChat } from '../../src/providers/openai-chat.ts';

const visibility: CallVisibility = {
  isHidden: (name) => name.startsWith('own'),
  clientCallId: (id, afterHidden) => `${id}${afterHidden ? '!' : '?'}`,
};

const chunk = (delta: JsonObject, finish: string | null = null, extra: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...extra,
});
const fragment = (
  index: number | undefined,
  name: string | undefined,
  args: JsonValue,
  id?: string,
  extra: JsonObject = {},
): JsonObject => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: 'function' }),
  function: { ...(name !== undefined && { name }), arguments: args },
  ...extra,
});
const calls = (...fragments: JsonObject[]) => chunk({ tool_calls: fragments });
const usage = (tokens: number): JsonObject => ({ prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 });

/** Relays rounds of chunks; returns the client's events and the assembled replies. */
function relay(rounds: (JsonObject | string)[][], request: JsonObject = {}) {
  const stream = openAiChat.createRelay(request, visibility);
  let text = '';
  const responses = rounds.map((round) => {
    for (const event of round) text += stream.push(typeof event === 'string' ? event : JSON.stringify(event));
    const { response, text: rest } = stream.endRound();
    text += rest;
    return response;
  });
  const usageByRound = responses.map((response) => openAiChat.readTurn(response).usage ?? null);
  const reply: Reply = { responses, report: { rounds: rounds.length, executions: [], usageByRound }, inlineResults: [] };
  text += stream.finish(reply);
  const data = text.split('\n\n').flatMap((frame) => (frame === '' ? [] : [frame.replace(/^data: /, '')]));
  const events = data
    .filter((event) => event !== '[DONE]')
    .map(
      (event) =>
        JSON.parse(event) as { choices: { delta: JsonObject; finish_reason: string | null }[]; usage?: JsonObject; omniroute?: JsonObject },
    );
  return {
    text,
    data,
    events,
    responses,
    deltas: events.flatMap((event) => event.choices.map((choice) => choice.delta)),
    plain: openAiChat.composeReply(reply, visibility),
  };
}

const round1 = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Let me see. ' }),
  calls(fragment(0, 'own_a', '', 'c1')),
  calls(fragment(0, undefined, '{}')),
  chunk({}, 'tool_calls', { usage: usage(10) }),
  '[DONE]',
];
const round2 = [
  chunk({ role: 'assistant', content: '' }, null, { id: 'chatcmpl-2' }),
  chunk({ content: 'It is 4.' }, null, { id: 'chatcmpl-2' }),
  chunk({}, 'stop', { id: 'chatcmpl-2' }),
  { ...chunk({}), id: 'chatcmpl-2', choices: [], usage: usage(20) },
  '[DONE]',
];

describe('the chat relay', () => {
  it('shows two rounds as one life cycle', () => {
    const { text, deltas, events, data } = relay([round1, round2]);
    expect(deltas).toEqual([{ role: 'assistant', content: '' }, { content: 'Let me see. ' }, { content: 'It is 4.' }, {}]);
    expect(new Set(events.map((event) => (event as unknown as JsonObject).id))).toEqual(new Set(['chatcmpl-1']));
    expect(events.map((event) => event.choices[0]?.finish_reason)).toEqual([null, null, null, 'stop']);
    expect(events.at(-1)?.omniroute).toEqual({ rounds: 2, executions: [], usage_by_round: [usage(10), usage(20)] });
    expect(text).not.toContain('own_a');
    expect(text).not.toContain('"usage"');
    expect(data.filter((event) => event === '[DONE]').length).toBe(1);
  });

  it('sends one summed usage when the client asked for it', () => {
    const { events } = relay([round1, round2], { stream_options: { include_usage: true } });
    expect(events.filter((event) => event.usage)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 } });
  });

  it('relays what it does not change byte for byte', () => {
    const odd = '{"id":"x", "choices":[{"index":0,"delta":{"content":"é","odd":[1]},"finish_reason":null}],"obfuscation":"abc"}';
    expect(relay([[odd, chunk({}, 'stop')]]).data[0]).toBe(odd);
  });

  it('puts data of several lines into one', () => {
    const { data } = relay([[JSON.stringify(chunk({ content: 'a' }), null, 1), chunk({}, 'stop')]]);
    expect(JSON.parse(data[0] ?? '')).toEqual(chunk({ content: 'a' }));
  });

  it('relays client calls as they come, renumbered, and hides owned ones', () => {
    const { deltas, responses } = relay([
      [
        calls(fragment(0, 'own_a', '{"a":', 'c1'), fragment(1, 'theirs', '{"b"', 'c2')),
        calls(fragment(0, undefined, '1}')),
        calls(fragment(1, undefined, ':2}')),
        calls(fragment(2, 'more', '{}', 'c3')),
        chunk({}, 'tool_calls'),
      ],
    ]);
    expect(deltas).toEqual([
      { role: 'assistant', tool_calls: [{ index: 0, id: 'c2!', type: 'function', function: { name: 'theirs', arguments: '{"b"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':2}' } }] },
      { tool_calls: [{ index: 1, id: 'c3!', type: 'function', function: { name: 'more', arguments: '{}' } }] },
      {},
    ]);
    expect(
      openAiChat.readTurn(responses[0] ?? {}).calls.map(({ id, name, arguments: read }) => [id, name, read.readable && read.value]),
    ).toEqual([
      ['c1', 'own_a', { a: 1 }],
      ['c2', 'theirs', { b: 2 }],
      ['c3', 'more', {}],
    ]);
  });

  it('marks a client call that goes out before anything is hidden as provisional', () => {
    const { deltas } = relay([
      [calls(fragment(0, 'theirs', '{}', 'c1')), calls(fragment(1, 'own_a', '{}', 'c2')), chunk({}, 'tool_calls')],
    ]);
    expect(deltas[0]).toMatchObject({ tool_calls: [{ id: 'c1?' }] });
  });

  it.each<[string, JsonObject[], [string, string, JsonValue][]]>([
    [
      'no index, fragments without id',
      [calls(fragment(undefined, 'f', '{"a"', 'c1')), calls(fragment(undefined, undefined, ':1}'))],
      [['c1?', 'f', '{"a":1}']],
    ],
    [
      'the same index with a new id',
      [calls(fragment(0, 'f', '{}', 'c1')), calls(fragment(0, 'g', '{}', 'c2'))],
      [
        ['c1?', 'f', '{}'],
        ['c2?', 'g', '{}'],
      ],
    ],
    [
      'the same id for different indices',
      [calls(fragment(0, 'f', '{', 'c0')), calls(fragment(1, 'g', '{}', 'c0')), calls(fragment(0, undefined, '}', 'c0'))],
      [
        ['c0?', 'f', '{}'],
        ['c0_1?', 'g', '{}'],
      ],
    ],
    [
      'a first fragment without id',
      [calls(fragment(0, 'f', '{"a"')), calls(fragment(0, undefined, ':1}', 'c1'))],
      [['c1?', 'f', '{"a":1}']],
    ],
    [
      'a first fragment without id and index',
      [calls(fragment(undefined, 'f', '{')), calls(fragment(undefined, undefined, '}', 'c1'))],
      [['c1?', 'f', '{}']],
    ],
    [
      'whole calls with arguments as objects and no id at all',
      [calls(fragment(undefined, 'f', { a: 1 }), fragment(undefined, 'f', {}))],
      [
        ['call_chatcmpl-1_1_0?', 'f', '{"a":1}'],
        ['call_chatcmpl-1_1_1?', 'f', '{}'],
      ],
    ],
    [
      'a first index of 1 and the name repeated',
      [calls(fragment(1, 'f', '{', 'c1')), calls(fragment(1, 'f', '}', 'c1'))],
      [['c1?', 'f', '{}']],
    ],
    ['an empty name in later fragments', [calls(fragment(0, 'f', '', 'c1')), calls(fragment(0, '', '{}'))], [['c1?', 'f', '{}']]],
    [
      'a fragment with nothing but extra content',
      [calls(fragment(0, 'f', '{}', 'c1')), calls({ index: 0, extra_content: { google: 1 } })],
      [['c1?', 'f', '{}']],
    ],
  ])('understands %s', (_, chunks, expected) => {
    const { deltas } = relay([[...chunks, chunk({}, 'tool_calls')]]);
    const folded = new Map<JsonValue, { id: JsonValue; name: JsonValue; arguments: string }>();
    for (const part of deltas.flatMap(
      (delta) => (delta.tool_calls ?? []) as { index: number; id?: string; function: { name?: string; arguments: string } }[],
    )) {
      const call = folded.get(part.index) ?? { id: part.id ?? '', name: part.function.name ?? '', arguments: '' };
      call.arguments += part.function.arguments;
      folded.set(part.index, call);
    }
    expect([...folded.keys()]).toEqual(expected.map((__, position) => position));
    expect([...folded.values()].map((call) => [call.id, call.name, call.arguments])).toEqual(expected);
  });

  it('understands calls that come after the finish, and a finish of stop with calls', () => {
    const { events } = relay([[chunk({}, 'stop'), calls(fragment(0, 'f', '{}', 'c1'))]]);
    expect(events.map((event) => event.choices[0]?.finish_reason)).toEqual([null, 'tool_calls']);
  });

  it('repeats no role and drops a role of later chunks', () => {
    const { deltas } = relay([[chunk({ role: 'assistant', content: 'a' }), chunk({ role: 'assistant', content: 'b' }), chunk({}, 'stop')]]);
    expect(deltas).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }, {}]);
  });

  it('keeps reasoning text, live and in the assembled reply', () => {
    const { deltas, responses } = relay([
      [
        chunk({ role: 'assistant', content: null, reasoning_content: 'hm' }),
        chunk({ reasoning_content: '!' }),
        chunk({ content: 'ok' }, 'stop'),
      ],
    ]);
    expect(deltas.map((delta) => delta.reasoning_content)).toEqual(['hm', '!', undefined, undefined]);
    expect(responses[0]).toMatchObject({ choices: [{ message: { reasoning_content: 'hm!', content: 'ok' } }] });
  });

  it('says the same as a plain reply', () => {
    const { events, plain } = relay([round1, round2]);
    const text = events.map((event) => event.choices[0]?.delta.content ?? '').join('');
    expect(plain).toMatchObject({
      id: 'chatcmpl-1',
      choices: [{ message: { content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 30 },
    });
  });

  it.each([[[chunk({ content: 'half' })]], [[]]])('refuses a stream that ends early: %j', (chunks) => {
    const stream = openAiChat.createRelay({}, visibility);
    for (const event of chunks) stream.push(JSON.stringify(event));
    expect(() => stream.endRound()).toThrow("The model provider's stream ended early");
  });

  it('refuses events that are no chunks, and reports errors in mid-stream', () => {
    const stream = openAiChat.createRelay({}, visibility);
    expect(() => stream.push('<html>')).toThrow('not JSON');
    expect(() => stream.push('[1]')).toThrow('not an object');
    expect(() => stream.push('{"error":{"message":"overloaded"}}')).toThrow('overloaded');
    expect(stream.fail({ code: 'upstream_failed', message: 'overloaded' })).toBe(
      'data: {"error":{"message":"overloaded","type":"server_error","param":null,"code":"upstream_failed"}}\n\n',
    );
  });
});

describe('calls that are ready', () => {
  it('are told of before the reply ends, once each and only when they are hidden', () => {
    const told: string[] = [];
    const stream = openAiChat.createRelay({}, visibility, ({ id, arguments: read }) => told.push(`${id} ${JSON.stringify(read)}`));
    const push = (event: JsonObject) => stream.push(JSON.stringify(event));
    push(calls(fragment(0, 'own_a', '{"x"', 'c1')));
    push(calls(fragment(0, undefined, ':1}')));
    expect(told).toEqual([]);
    push(calls(fragment(1, 'theirs', '{}', 'c2')));
    expect(told).toEqual(['c1 {"readable":true,"value":{"x":1}}']);
    push(calls(fragment(2, 'own_b', '', 'c3')));
    push(chunk({}, 'tool_calls'));
    expect(told.slice(1)).toEqual(['c3 {"readable":true,"value":{}}']);
  });
});
