import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { call, message, redacted, relay, result, streamOf, text, thinking } from './anthropic-events.ts';

const user = (content: string | JsonObject[]): JsonObject => ({ role: 'user', content });
const request: JsonObject = { model: 'claude', max_tokens: 100, messages: [user('go')] };

describe('describeRequest', () => {
  it('reads what scoring and injection need', () => {
    const facts = anthropic.describeRequest({
      model: 'claude-sonnet',
      stream: true,
      max_tokens: 49,
      system: [text('Be brief.'), { ...text('And kind.'), cache_control: { type: 'ephemeral' } }],
      messages: [
        user('Hello'),
        { role: 'assistant', content: [thinking('secret thought', 's'), text('Hi'), call('c1', 'weather')] },
        user([{ type: 'tool_result', tool_use_id: 'c1', content: 'secret result' }]),
        { role: 'system', content: 'Now in French.' },
        user([{ type: 'tool_result', tool_use_id: 'c2', content: [text('secret too')] }, text('And now?'), { type: 'image', source: {} }]),
      ],
      tools: [{ name: 'weather', input_schema: {} }, { type: 'bash_20250124', name: 'bash' }, { type: 'browser_toolset_20260801' }],
    });
    expect(facts).toEqual({
      model: 'claude-sonnet',
      stream: true,
      texts: ['claude-sonnet', 'Be brief.', 'And kind.', 'Now in French.', 'Hello', 'Hi', 'And now?'],
      systemText: 'Be brief.\nAnd kind.\nNow in French.',
      userMessageCount: 2,
      maxOutputTokens: 49,
      clientToolNames: new Set(['weather', 'bash']),
      clientToolCount: 3,
      acceptsTools: true,
    });
  });

  it('reads a system prompt that is text, and a request with nothing but the least', () => {
    expect(anthropic.describeRequest({ ...request, system: 'Be brief.' })).toMatchObject({ systemText: 'Be brief.', stream: false });
    expect(anthropic.describeRequest({ model: 'm', messages: [user('x')] }).maxOutputTokens).toBeUndefined();
  });

  it.each([
    ['none', false],
    ['auto', true],
    ['any', true],
    ['tool', true],
  ])('with the tool choice %s it accepts tools: %s', (type, accepts) => {
    expect(anthropic.describeRequest({ ...request, tool_choice: { type } }).acceptsTools).toBe(accepts);
  });

  it.each<[JsonObject, string]>([
    [{ messages: [user('x')] }, 'model: a string is required'],
    [{ model: '', messages: [user('x')] }, 'model: a string is required'],
    [{ model: 'm' }, 'messages: an array of at least one message object is required'],
    [{ model: 'm', messages: [] }, 'messages: an array of at least one message object is required'],
    [{ model: 'm', messages: ['hi'] }, 'messages: an array of at least one message object is required'],
    [{ ...request, tools: {} }, 'tools: an array of objects is required'],
    [{ ...request, tools: ['x'] }, 'tools: an array of objects is required'],
  ])('refuses %j: %s', (body, error) => {
    expect(() => anthropic.describeRequest(body)).toThrow(error);
  });
});

describe('tools', () => {
  const tool = (name: string) =>
    anthropic.defineTool({ name, description: `Does ${name}`, parameters: { type: 'object', properties: {} } });

  it('have the shape of the API and no mark of the cache', () => {
    expect(tool('a')).toEqual({ name: 'a', description: 'Does a', input_schema: { type: 'object', properties: {} } });
  });

  it('stand around those of the client, which stay as they are', () => {
    const theirs = { name: 'theirs', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' }, strict: true };
    const injected = anthropic.injectTools({ ...request, tools: [theirs] }, [tool('a')], [tool('z')]);
    expect(injected).toEqual({ ...request, tools: [tool('a'), theirs, tool('z')] });
    expect(anthropic.injectTools(request, [], [tool('z')]).tools).toEqual([tool('z')]);
  });

  it.each([
    [{ type: 'any' }, { type: 'auto' }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      { type: 'tool', name: 'theirs', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
  ])('are not forced after the first round: %j', (before, after) => {
    expect(anthropic.releaseToolChoice({ ...request, tool_choice: before })).toEqual({ ...request, tool_choice: after });
  });

  it('leaves every other choice alone', () => {
    for (const free of [request, { ...request, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }]) {
      expect(anthropic.releaseToolChoice(free)).toBe(free);
    }
  });

  it('are forbidden, but stay, at a bound', () => {
    const bound = { ...request, tools: [tool('a')], tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
    expect(anthropic.forbidTools(bound)).toEqual({ ...bound, tool_choice: { type: 'none' } });
  });
});

/** A reply as a plain call gives it, and as it is put together from a stream. */
const both = (body: JsonObject): [string, JsonObject][] => [
  ['plain', body],
  ['streamed', relay([streamOf(body)]).responses[0] ?? {}],
];

describe('readTurn', () => {
  it.each(both(message([text('Let me see.'), call('c1', 'own_a', { x: 1 }), call('c2', 'theirs')])))(
    'reads the calls of a %s reply',
    (_, body) => {
      expect(anthropic.readTurn(body)).toEqual({
        calls: [
          { id: 'c1', name: 'own_a', arguments: { readable: true, value: { x: 1 } } },
          { id: 'c2', name: 'theirs', arguments: { readable: true, value: {} } },
        ],
        cut: false,
        paused: false,
        usage: { input_tokens: 10, output_tokens: 5 },
      });
    },
  );

  it.each([
    ['end_turn', false, false],
    ['tool_use', false, false],
    ['stop_sequence', false, false],
    ['max_tokens', true, false],
    ['refusal', true, false],
    ['model_context_window_exceeded', true, false],
    ['pause_turn', false, true],
  ])('a reply that stops with %s is cut: %s, paused: %s', (reason, cut, paused) => {
    for (const [, body] of both(message([call('c1', 'own_a')], { stop_reason: reason }))) {
      expect(anthropic.readTurn(body)).toMatchObject({ cut, paused });
    }
  });

  it('reads no call of a tool that runs at the provider', () => {
    const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'own_a', input: {} };
    expect(anthropic.readTurn(message([server])).calls).toEqual([]);
  });

  it.each(both(message([text('x'), { type: 'tool_use', name: 'own_a', input: { a: 1 } }], { id: 'msg:1' })))(
    'gives an id to a call that has none, in a %s reply',
    (_, body) => {
      expect(anthropic.readTurn(body).calls.map(({ id }) => id)).toEqual(['toolu_msg_1_1']);
      expect(anthropic.appendToolResults(request, body, [result('toolu_msg_1_1')]).messages).toMatchObject([
        {},
        { content: [{}, { id: 'toolu_msg_1_1' }] },
        { content: [{ tool_use_id: 'toolu_msg_1_1' }] },
      ]);
    },
  );

  it('reads nothing from a body that is no message', () => {
    expect(anthropic.readTurn({})).toEqual({ calls: [], cut: false, paused: false, usage: undefined });
    expect(anthropic.readTurn({ content: [null, 1, { type: 'tool_use', id: 'c1' }] }).calls).toEqual([]);
  });
});

describe('appendToolResults', () => {
  const content = [
    thinking('Two things.', 'sig-1'),
    redacted('blob'),
    text('Let me see.'),
    call('c1', 'own_a', { x: 1 }),
    thinking('And then?', 'sig-2'),
    call('c2', 'own_b'),
  ];
  it.each(both(message(content)))('sends a %s reply back unmodified, and all results in one message', (_, body) => {
    expect(anthropic.appendToolResults(request, body, [result('c1'), result('c2', true)])).toEqual({
      ...request,
      messages: [
        user('go'),
        { role: 'assistant', content },
        user([
          { type: 'tool_result', tool_use_id: 'c1', content: '{"of":"c1"}' },
          { type: 'tool_result', tool_use_id: 'c2', content: '{"of":"c2"}', is_error: true },
        ]),
      ],
    });
  });

  it('keeps fields of blocks that it does not know', () => {
    const odd = [
      { ...call('c1', 'own_a'), caller: { type: 'direct' } },
      { type: 'new_block', more: [1] },
      { ...text('x'), citations: null },
    ];
    expect(anthropic.appendToolResults(request, message(odd), [result('c1')]).messages).toMatchObject([{}, { content: odd }, {}]);
  });

  it.each(both(message([text(''), call('c1', 'own_a'), text(' \n')])))('leaves out texts of a %s reply that say nothing', (_, body) => {
    expect(anthropic.appendToolResults(request, body, [result('c1')]).messages).toMatchObject([
      {},
      { role: 'assistant', content: [call('c1', 'own_a')] },
      {},
    ]);
  });

  it('sends a paused reply back as it is, without a message behind it', () => {
    const paused = message([text('Searching'), { type: 'server_tool_use', id: 's1', name: 'web_search', input: { q: 1 } }], {
      stop_reason: 'pause_turn',
    });
    expect(anthropic.appendToolResults(request, paused, []).messages).toEqual([user('go'), { role: 'assistant', content: paused.content }]);
    expect(anthropic.appendToolResults(request, message([], { stop_reason: 'pause_turn' }), []).messages).toEqual([user('go')]);
  });

  it.each([
    ['{"a":', 'The arguments are not valid JSON: '],
    ['[1]', 'The arguments are not a JSON object'],
  ])('wraps an input that is no object: %s', (input, error) => {
    const body = message([call('c1', 'own_a', input)]);
    expect(anthropic.readTurn(body).calls).toMatchObject([{ arguments: { readable: false, error: expect.stringContaining(error) } }]);
    expect(anthropic.appendToolResults(request, body, [result('c1', true)]).messages).toMatchObject([
      {},
      { content: [{ input: { INVALID_JSON: input } }] },
      { content: [{ is_error: true }] },
    ]);
  });
});

describe('errors', () => {
  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'conflict_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'api_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ])('of status %i are called %s', (status, type) => {
    expect(anthropic.errorBody({ status, code: 'some_code', message: 'No.' })).toEqual({ type: 'error', error: { type, message: 'No.' } });
  });
});

describe('the request', () => {
  it('goes to a model under another name and asks for nothing more when it is streamed', () => {
    expect(anthropic.withModel(request, 'other')).toEqual({ ...request, model: 'other' });
    expect(anthropic.prepareStream({ ...request, stream: true })).toEqual({ ...request, stream: true });
  });
});
