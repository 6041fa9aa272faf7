import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import { call, eventsOf, message, output, reasoning, relay, response, wrapper } from './openai-responses-fixture.ts';

describe('describeRequest', () => {
  it('reads what scoring and injection need, and never the outputs of tools', () => {
    const facts = openAiResponses.describeRequest({
      model: 'gpt-5',
      stream: true,
      max_output_tokens: 49,
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'And kind.' }] },
        { type: 'message', role: 'user', content: 'Hello' },
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:' },
            { type: 'input_text', text: 'there' },
          ],
        },
        message('1', 'Hi.'),
        reasoning('1', { summary: [{ type: 'summary_text', text: 'secret thought' }] }),
        call('c1', 'weather', '{"city":"secret argument"}'),
        output('c1', 'secret result'),
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'secret part' }] },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late' }] },
      ],
      tools: [
        { type: 'function', name: 'weather' },
        { type: 'custom', name: 'sql' },
        { type: 'web_search' },
        { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'lookup' }] },
      ],
    });
    expect(facts).toEqual({
      model: 'gpt-5',
      stream: true,
      texts: ['gpt-5', 'Be brief.', 'And kind.', 'Hello', 'there', 'Hi.'],
      systemText: 'Be brief.\nAnd kind.',
      userMessageCount: 2,
      maxOutputTokens: 49,
      clientToolNames: new Set(['weather', 'sql', 'crm', 'lookup', 'late']),
      clientToolCount: 4,
      acceptsTools: true,
    });
  });
  it('reads an input that is a string as a message of the user', () => {
    const facts = openAiResponses.describeRequest({ model: 'm', input: 'Hello' });
    expect([facts.texts, facts.userMessageCount, facts.systemText]).toEqual([['m', 'Hello'], 1, '']);
  });
  it.each([{ tool_choice: 'none' }, { background: true }])('takes no tools with %j', (fields) => {
    expect(openAiResponses.describeRequest({ model: 'm', input: 'x', ...fields }).acceptsTools).toBe(false);
  });
  it.each<JsonObject>([{ prompt: { id: 'p' } }, { previous_response_id: 'resp_1' }, { conversation: 'conv_1' }])(
    'needs no input with %j',
    (fields) => {
      expect(openAiResponses.describeRequest({ model: 'm', ...fields }).texts).toEqual(['m']);
    },
  );
  it.each<[JsonObject, string]>([
    [{ input: 'x' }, 'model: a string is required'],
    [{ model: 1, input: 'x' }, 'model: a string is required'],
    [{ model: 'm' }, 'input: a string or an array of item objects is required'],
    [{ model: 'm', input: 1 }, 'input: a string or an array of item objects is required'],
    [{ model: 'm', input: ['x'] }, 'input: a string or an array of item objects is required'],
    [{ model: 'm', input: 1, previous_response_id: 'r' }, 'input: a string or an array of item objects is required'],
    [{ model: 'm', input: 'x', tools: {} }, 'tools: an array of objects is required'],
    [{ model: 'm', input: 'x', tools: ['a'] }, 'tools: an array of objects is required'],
  ])('refuses %j', (body, text) => {
    expect(() => openAiResponses.describeRequest(body)).toThrow(text);
  });
});

describe('tools', () => {
  const define = (parameters: JsonObject) => openAiResponses.defineTool({ name: 'a_v1_0_0', description: 'does a', parameters });
  it('are flat and not strict', () => {
    expect(define({ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] })).toEqual({
      type: 'function',
      name: 'a_v1_0_0',
      description: 'does a',
      parameters: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
      strict: false,
    });
  });
  it('have an object without a choice at the root of their parameters', () => {
    const { parameters } = define({ type: 'object', anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] });
    expect(parameters).toMatchObject({ type: 'object' });
    expect(parameters).not.toHaveProperty('anyOf');
  });
  it('stand around those of the client', () => {
    const { tools } = openAiResponses.injectTools({ tools: [{ type: 'web_search' }] }, [define({})], [{ type: 'function', name: 'z' }]);
    expect(tools).toMatchObject([{ name: 'a_v1_0_0' }, { type: 'web_search' }, { name: 'z' }]);
  });
  it.each<[JsonObject, JsonObject['include'] | undefined]>([
    [{ model: 'gpt-5', store: false }, ['reasoning.encrypted_content']],
    [{ model: 'my/model', store: false, include: ['x'] }, ['x', 'reasoning.encrypted_content']],
    [{ model: 'o3', store: false, include: ['reasoning.encrypted_content'] }, ['reasoning.encrypted_content']],
    [{ model: 'gpt-5' }, undefined],
    [{ model: 'gpt-5', store: true }, undefined],
    [{ model: 'gpt-4o-mini', store: false }, undefined],
    [{ model: 'openai/ft:gpt-4.1:acme', store: false }, undefined],
    [{ model: 'gpt-5-chat-latest', store: false }, undefined],
  ])('ask for reasoning that can be sent back: %j', (request, include) => {
    expect(openAiResponses.injectTools(request, [], []).include).toEqual(include);
  });
  it.each<[JsonObject['tool_choice'] | undefined, JsonObject['tool_choice'] | undefined]>([
    ['required', 'auto'],
    [{ type: 'function', name: 'x' }, 'auto'],
    [{ type: 'web_search_preview' }, 'auto'],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'x' }] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'x' }] },
    ],
    ['none', 'none'],
    [undefined, undefined],
  ])('are released from the choice %j', (choice, released) => {
    expect(openAiResponses.releaseToolChoice(choice === undefined ? {} : { tool_choice: choice }).tool_choice).toEqual(released);
  });
  it('are forbidden but stay', () => {
    expect(openAiResponses.forbidTools({ tools: [{ name: 'a' }], tool_choice: 'auto' })).toEqual({
      tools: [{ name: 'a' }],
      tool_choice: 'none',
    });
  });
  it('go to the model under another name', () => {
    expect(openAiResponses.withModel({ model: 'p/m', input: 'x' }, 'm')).toEqual({ model: 'm', input: 'x' });
  });
  it('need nothing more for a stream', () => {
    const request = { model: 'm', input: 'x', stream: true };
    expect(openAiResponses.prepareStream(request)).toBe(request);
  });
});

/** A reply that is read plain and streamed. */
const bothWays = (body: JsonObject): JsonObject[] => [body, ...relay([eventsOf(body)]).responses];

describe('readTurn', () => {
  const calls = (body: JsonObject) =>
    bothWays(body).map((each) =>
      openAiResponses.readTurn(each).calls.map(({ id, name, arguments: read }) => [id, name, read.readable ? read.value : read.error]),
    );
  it('reads calls by their call_id, and says where arguments broke', () => {
    const expected = [
      ['c1', 'own_a', { a: 1 }],
      ['c2', 'own_b', {}],
      ['c3', 'x', expect.stringContaining('The arguments are not valid JSON: ')],
      ['c4', 'x', 'The arguments are not a JSON object'],
    ];
    const body = response('1', [call('c1', 'own_a', '{"a":1}'), call('c2', 'own_b', ''), call('c3', 'x', '{"a":'), call('c4', 'x', '[1]')]);
    expect(calls(body)).toEqual([expected, expected]);
  });
  it('gives ids to calls of emulators that have none, and reads arguments that are objects', () => {
    const odd = response('1', [
      { type: 'function_call', name: 'own_a', arguments: { a: 1 } },
      { type: 'function_call', id: 'fc_9', name: 'own_b' },
    ]);
    expect(openAiResponses.readTurn(odd).calls).toEqual([
      { id: 'call_resp_1_0', name: 'own_a', arguments: { readable: true, value: { a: 1 } } },
      { id: 'fc_9', name: 'own_b', arguments: { readable: true, value: {} } },
    ]);
    const next = openAiResponses.appendToolResults({ input: 'go', store: false }, odd, [
      { callId: 'call_resp_1_0', name: 'own_a', content: 'A', failed: false },
      { callId: 'fc_9', name: 'own_b', content: 'B', failed: false },
    ]);
    expect(next.input).toMatchObject([
      { role: 'user', content: 'go' },
      { call_id: 'call_resp_1_0', arguments: '{"a":1}' },
      { call_id: 'fc_9', arguments: '' },
      { type: 'function_call_output', call_id: 'call_resp_1_0', output: 'A' },
      { type: 'function_call_output', call_id: 'fc_9', output: 'B' },
    ]);
  });
  it('takes no call for one of ours that is in a namespace or no function call', () => {
    const body = response('1', [
      call('c1', 'own_a', '{}', { namespace: 'crm' }),
      { type: 'custom_tool_call', id: 'ct_1', call_id: 'c2', name: 'own_a', input: 'SELECT' },
      { type: 'mcp_approval_request', id: 'mcpr_1', name: 'own_a', arguments: '{}', server_label: 's' },
      { type: 'computer_call', id: 'cu_1', call_id: 'c3', action: {} },
    ]);
    const expected = [
      ['c1', 'crm.own_a', {}],
      ['c2', 'custom_tool_call own_a', {}],
      ['mcpr_1', 'mcp_approval_request own_a', {}],
      ['c3', 'computer_call ', {}],
    ];
    expect(calls(body)).toEqual([expected, expected]);
  });
  it('counts the calls of hosted tools for none', () => {
    const body = response('1', [
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'shell_call', id: 'sh_1', call_id: 'c1', environment: { type: 'container_reference', container_id: 'x' } },
      { type: 'tool_search_call', id: 'ts_1', call_id: 'c2', execution: 'server' },
      { type: 'mcp_call', id: 'mcp_1', name: 'own_a', arguments: '{}' },
    ]);
    expect(calls(body)).toEqual([[], []]);
  });
  it.each<[string, JsonObject, boolean]>([
    ['completed', {}, false],
    ['max_output_tokens', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, true],
    ['content_filter', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, true],
    ['failed', { status: 'failed', error: { code: 'server_error', message: 'x' } }, true],
    ['a call that is incomplete', { output: [call('c1', 'own_a', '{"a', { status: 'incomplete' })] }, true],
    ['a refusal', { output: [message('1', '', { content: [{ type: 'refusal', refusal: 'No.' }] })] }, true],
  ])('tells whether a reply is cut: %s', (_, fields, cut) => {
    const body = response('1', [call('c1', 'own_a')], fields);
    expect(bothWays(body).map((each) => openAiResponses.readTurn(each).cut)).toEqual([cut, cut]);
  });
  it('reads the usage', () => {
    expect(openAiResponses.readTurn(response('1', [])).usage).toMatchObject({ input_tokens: 10 });
    expect(openAiResponses.readTurn({}).usage).toBeUndefined();
  });
  it.each<JsonObject>([{}, { output: 1 }, { output: [1, null, {}] }, { output: [{ type: 'function_call' }] }])('survives %j', (body) => {
    expect(openAiResponses.readTurn(body).calls.every(({ id }) => id !== '')).toBe(true);
  });
});

describe('the wrapper "parallel"', () => {
  const uses: [string, JsonObject][] = [
    ['functions.own_a', { a: 1 }],
    ['own_b', {}],
  ];
  const read = (item: JsonObject, fields: JsonObject = {}) =>
    bothWays(response('1', [item], fields)).map((body) => openAiResponses.readTurn(body).calls.map(({ id, name }) => [id, name]));
  const unwrapped = [
    ['w_use0', 'own_a'],
    ['w_use1', 'own_b'],
  ];
  const asItCame = [['w', 'parallel']];

  it('is read as the calls inside of it', () => {
    expect(read(wrapper('w', ...uses))).toEqual([unwrapped, unwrapped]);
    const tools = ['own_a', 'own_b'].map((name) => ({ type: 'function', name }));
    expect(read(wrapper('w', ...uses), { tools })).toEqual([unwrapped, unwrapped]);
    expect(read({ ...wrapper('w', ...uses), name: 'multi_tool_use.parallel' })).toEqual([unwrapped, unwrapped]);
  });
  it.each<[string, JsonObject, JsonObject]>([
    [
      'has a recipient that is no tool',
      wrapper('w', ...uses, ['functions.made_up', {}]),
      { tools: [{ name: 'own_a' }, { name: 'own_b' }] },
    ],
    ['is a tool of the request', wrapper('w', ...uses), { tools: [{ name: 'own_a' }, { name: 'own_b' }, { name: 'parallel' }] }],
    ['has other arguments', call('w', 'parallel', '{"tool_uses":"x"}'), {}],
    ['has no uses', wrapper('w'), {}],
    ['has a use without recipient', call('w', 'parallel', '{"tool_uses":[{}]}'), {}],
    ['has arguments that break off', call('w', 'parallel', '{"tool_uses":[{"recip'), {}],
  ])('is a call like any other when it %s', (_, item, fields) => {
    expect(read(item, fields)).toEqual([asItCame, asItCame]);
  });
  it('gets exactly one answer', () => {
    const body = response('1', [call('c1', 'own_a'), wrapper('w', ...uses)]);
    const results = openAiResponses.readTurn(body).calls.map(({ id, name }) => ({ callId: id, name, content: `of ${id}`, failed: false }));
    expect(openAiResponses.appendToolResults({ input: 'go' }, body, results).input).toEqual([
      output('c1', 'of c1'),
      output(
        'w',
        JSON.stringify({
          results: [
            { recipient_name: 'functions.own_a', output: 'of w_use0' },
            { recipient_name: 'own_b', output: 'of w_use1' },
          ],
        }),
      ),
    ]);
  });
});

describe('errorBody', () => {
  it('has the shape of the API', () => {
    expect(openAiResponses.errorBody({ status: 502, code: 'upstream_failed', message: 'x' })).toEqual({
      error: { message: 'x', type: 'server_error', param: null, code: 'upstream_failed' },
    });
  });
});

describe('any request', () => {
  it('is described or refused with an error of the caller', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom('model', 'input', 'tools', 'role', 'content', 'type', 'text', 'name', 'call_id') }),
        (body) => {
          const request = JSON.parse(JSON.stringify({ model: 'm', ...body })) as JsonObject;
          try {
            openAiResponses.describeRequest(request);
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid_request' });
          }
          const restored = openAiResponses.restoreTurns(openAiResponses.removeInlineResults(request), () => ({ id: 'x' }));
          expect(new Set(openAiResponses.historyCallIds(restored)).size).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
