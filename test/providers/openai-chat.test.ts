import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import type { ToolResult } from '../../src/providers/adapter.ts';
import { openAiChat } from '../../src/providers/openai-chat.ts';

const call = (id: string, name: string, args = '{}') => ({ id, type: 'function', function: { name, arguments: args } });
const result = (callId: string): ToolResult => ({ callId, name: 'own_a', content: `{"of":"${callId}"}`, failed: false });
const response = (message: JsonObject, finish = 'tool_calls'): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
});

describe('describeRequest', () => {
  it('reads what scoring and injection need', () => {
    const facts = openAiChat.describeRequest({
      model: 'gpt-5',
      stream: true,
      max_tokens: 49,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'secret result' },
      ],
      tools: [
        { type: 'function', function: { name: 'weather' } },
        { type: 'custom', custom: { name: 'sql' } },
      ],
    });
    expect(facts).toEqual({
      model: 'gpt-5',
      stream: true,
      texts: ['gpt-5', 'Be brief.', 'And kind.', 'Hello'],
      systemText: 'Be brief.\nAnd kind.',
      userMessageCount: 1,
      maxOutputTokens: 49,
      clientToolNames: new Set(['weather', 'sql']),
      clientToolCount: 2,
      acceptsTools: true,
    });
  });
  it.each([{ tool_choice: 'none' }, { n: 2 }])('takes no tools with %j', (fields) => {
    expect(openAiChat.describeRequest({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...fields }).acceptsTools).toBe(false);
  });
  it.each<[JsonObject, string]>([
    [{ messages: [] }, 'model'],
    [{ model: 1, messages: [{}] }, 'model'],
    [{ model: 'm' }, 'messages'],
    [{ model: 'm', messages: 'hi' }, 'messages'],
    [{ model: 'm', messages: [1] }, 'messages'],
    [{ model: 'm', messages: [{}], tools: {} }, 'tools'],
  ])('refuses %j and names %s', (body, field) => {
    expect(() => openAiChat.describeRequest(body)).toThrow(field);
  });
});

describe('injectTools', () => {
  it('puts tools around those of the client', () => {
    const tool = (name: string) => openAiChat.defineTool({ name, description: name, parameters: { type: 'object', properties: {} } });
    const request = openAiChat.injectTools(
      { model: 'm', tools: [{ type: 'function', function: { name: 'theirs' } }] },
      [tool('a')],
      [tool('z')],
    );
    expect(request.tools).toMatchObject([
      { type: 'function', function: { name: 'a' } },
      { function: { name: 'theirs' } },
      { function: { name: 'z' } },
    ]);
  });
});

describe('suspended turns', () => {
  const original: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'go' }] };
  const hidden = openAiChat.appendToolResults(original, response({ tool_calls: [call('h1', 'own_a')], reasoning_content: 'hm' }), [
    result('h1'),
  ]);
  const mixed = response({ content: 'both', tool_calls: [call('c1', 'theirs'), call('h2', 'own_a'), call('c2', 'theirs')] });
  const transcript = openAiChat.suspendTurn(original, hidden, mixed, [result('h2')]);
  const echoed: JsonObject = {
    ...original,
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'both', tool_calls: [call('c1#T', 'theirs'), call('c2#T', 'theirs')] },
      { role: 'tool', tool_call_id: 'c2#T', content: 'two' },
      { role: 'tool', tool_call_id: 'c1#T', content: 'one' },
      { role: 'user', content: 'and now?' },
    ],
  };

  it('come back as if nothing had been hidden, results in call order', () => {
    expect(openAiChat.historyCallIds(echoed)).toEqual(['c1#T', 'c2#T']);
    const restored = openAiChat.restoreTurns(echoed, (id) => (id.endsWith('#T') ? { id: id.slice(0, -2), transcript } : undefined));
    expect(restored.messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [call('h1', 'own_a')], reasoning_content: 'hm' },
      { role: 'tool', tool_call_id: 'h1', content: '{"of":"h1"}' },
      { role: 'assistant', content: 'both', tool_calls: [call('c1', 'theirs'), call('h2', 'own_a'), call('c2', 'theirs')] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'h2', content: '{"of":"h2"}' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'user', content: 'and now?' },
    ]);
  });

  it('without a transcript only lose their markers', () => {
    const restored = openAiChat.restoreTurns(echoed, (id) => (id.endsWith('#T') ? { id: id.slice(0, -2) } : undefined));
    expect(JSON.stringify(restored)).toBe(JSON.stringify(echoed).replaceAll('#T', ''));
  });
});

describe('removeInlineResults', () => {
  const history = (...messages: JsonObject[]): JsonObject => ({ model: 'm', messages });
  it('returns the same object when there is nothing to take out', () => {
    const request = history({ role: 'assistant', tool_calls: [call('c1', 'x')] }, { role: 'tool', tool_call_id: 'c1', content: '' });
    expect(openAiChat.removeInlineResults(request)).toBe(request);
  });
  it('takes out results and the calls that nobody answered', () => {
    const request = history(
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'ok',
        tool_calls: [call('c1', 'own_a'), call('c2', 'x')],
        tool_results: [{ tool_call_id: 'c1', output: '{}' }],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'assistant', content: null, tool_calls: [call('c3', 'own_a')] },
      { role: 'user', content: 'next' },
    );
    expect(openAiChat.removeInlineResults({ ...request, tool_results: [] })).toEqual(
      history(
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'ok', tool_calls: [call('c2', 'x')] },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        { role: 'user', content: 'next' },
      ),
    );
  });
  it('keeps unanswered calls of the client, for the provider to judge', () => {
    const request = {
      ...history({ role: 'assistant', tool_calls: [call('c1', 'x')] }),
      tools: [{ type: 'function', function: { name: 'x' } }],
    };
    expect(openAiChat.removeInlineResults(request)).toBe(request);
  });
});

describe('readTurn', () => {
  it('says where arguments broke', () => {
    const { calls } = openAiChat.readTurn(
      response({ tool_calls: [call('c1', 'f', '{"a":'), call('c2', 'f', '[1]'), call('c3', 'f', ' ')] }),
    );
    expect(calls.map(({ arguments: read }) => read)).toEqual([
      { readable: false, error: expect.stringContaining('The arguments are not valid JSON: ') },
      { readable: false, error: 'The arguments are not a JSON object' },
      { readable: true, value: {} },
    ]);
  });
  it('tells calls with the same id apart', () => {
    const odd = response({ tool_calls: [call('call_0', 'f'), call('call_0', 'g'), call('call_0', 'h')] });
    const { calls } = openAiChat.readTurn(odd);
    expect(calls.map(({ id, name }) => [id, name])).toEqual([
      ['call_0', 'f'],
      ['call_0_1', 'g'],
      ['call_0_2', 'h'],
    ]);
    const sent = openAiChat.appendToolResults(
      { messages: [] },
      odd,
      calls.map(({ id }) => result(id)),
    );
    expect(sent.messages).toMatchObject([
      { tool_calls: [{ id: 'call_0' }, { id: 'call_0_1' }, { id: 'call_0_2' }] },
      { tool_call_id: 'call_0' },
      { tool_call_id: 'call_0_1' },
      { tool_call_id: 'call_0_2' },
    ]);
  });
  it('gives ids to calls of providers that have none', () => {
    const odd = response({ tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }] });
    expect(openAiChat.readTurn(odd).calls).toEqual([
      { id: 'call_chatcmpl-1_0', name: 'f', arguments: { readable: true, value: { a: 1 } } },
    ]);
    expect(openAiChat.appendToolResults({ messages: [] }, odd, [result('call_chatcmpl-1_0')]).messages).toMatchObject([
      { tool_calls: [{ id: 'call_chatcmpl-1_0', function: { arguments: '{"a":1}' } }] },
      { role: 'tool', tool_call_id: 'call_chatcmpl-1_0' },
    ]);
  });
});
