import { describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../../src/json.ts';
import { ask } from './ask.ts';

const VERSION = { 'anthropic-version': '2023-06-01' };
const schema = { type: 'object', properties: {} };
const tool = (name: string, input_schema: object = schema) => ({ name, input_schema });
const use = (id: string, more: object = {}) => ({ type: 'tool_use', id, name: 'weather', input: {}, ...more });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' });
const text = { type: 'text', text: 'Well.' };
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const question = { role: 'user', content: 'call weather' };
const thinking = { type: 'enabled', budget_tokens: 1024 };
const request = (more: object) => ({ model: 'scripted-test', max_tokens: 2048, messages: [question], tools: [tool('weather')], ...more });
const send = (more: object, headers: Record<string, string> = VERSION) => ask('/v1/messages', request(more), headers);

const refusal = (message: string) => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', message }, request_id: expect.stringMatching(/^req_01/) },
});

describe('Messages', () => {
  it.each([
    [
      'all results in the next message, text after them',
      { messages: [question, assistant(text, use('a'), use('b')), user(result('b'), result('a'), text)] },
    ],
    ['no tools in a list, where none were used', { tools: [] }],
    ['a reply that is begun', { messages: [question, { role: 'assistant', content: 'Well' }] }],
    [
      'calls without thinking when it adapts',
      { thinking: { type: 'adaptive' }, messages: [question, assistant(use('a')), user(result('a'))] },
    ],
    [
      'calls without thinking before the user spoke again',
      { thinking, messages: [question, assistant(use('a')), user(result('a')), assistant(text), question] },
    ],
    ["a tool of Anthropic's own", { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['temperature in the older version', { temperature: 1 }],
  ])('takes %s', async (_, more) => {
    expect((await send(more)).status).toBe(200);
  });

  it.each([
    ['no version', {}, 'anthropic-version: header is required'],
    ['an unknown version', { 'anthropic-version': '2020-01-01' }, 'anthropic-version: "2020-01-01" is not a valid version'],
    [
      'temperature in the newer version',
      { 'anthropic-version': '2026-10-21' },
      'temperature: not supported by anthropic-version 2026-10-21',
    ],
  ])('refuses %s', async (_, headers, message) => {
    expect(await send({ temperature: 1 }, headers)).toEqual(refusal(message));
  });

  const missing = (ids: string) => `messages.1: tool_use ids were found without tool_result blocks immediately after: ${ids}`;
  const stray = (at: number, id: string) =>
    `messages.${at}: unexpected tool_use_id in tool_result blocks: ${id}; each needs its own tool_use block in the previous message`;
  const root = 'tools.0.custom.input_schema';
  it.each([
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: a whole number of at least 1 is required'],
    ['no messages', { messages: [] }, 'messages: at least one message is required'],
    ['an assistant that begins', { messages: [assistant(text), question] }, 'messages: the first message must use the "user" role'],
    [
      'an empty message',
      { messages: [user()] },
      'messages.0: all messages must have non-empty content except for the optional final assistant message',
    ],
    ['an empty text', { messages: [user({ type: 'text', text: '' })] }, 'messages.0.content.0: text content blocks must be non-empty'],
    ['a bad name', { tools: [tool('eval_code@1.0.0')] }, 'tools.0.name: should match ^[a-zA-Z0-9_-]{1,128}$'],
    ['a name that is there twice', { tools: [tool('a'), tool('a')] }, 'tools: the name a is there twice'],
    ['a schema that is no object', { tools: [tool('a', { type: 'string' })] }, `${root}.type: must be "object"`],
    [
      'a union at the root',
      { tools: [tool('a', { ...schema, anyOf: [] })] },
      `${root}: oneOf, allOf and anyOf are not supported at the top level`,
    ],
    ['a choice without tools', { tools: [], tool_choice: { type: 'auto' } }, 'tool_choice: may only be specified together with tools'],
    [
      'calls without tools',
      { tools: undefined, messages: [question, assistant(use('a')), user(result('a'))] },
      'tools: required, since the messages have tool_use or tool_result blocks',
    ],
    [
      'a bad id',
      { messages: [question, assistant(use('a.b')), user(result('a.b'))] },
      'messages.1.content.0.tool_use.id: should match ^[a-zA-Z0-9_-]+$',
    ],
    [
      'an input that is text',
      { messages: [question, assistant(use('a', { input: '{}' })), user(result('a'))] },
      'messages.1.content.0.tool_use.input: should be an object',
    ],
    [
      'an id that is there twice',
      { messages: [question, assistant(use('a'), use('a')), user(result('a'))] },
      'messages: tool_use ids must be unique, a is there twice',
    ],
    ['a call at the end', { messages: [question, assistant(use('a'))] }, missing('a')],
    ['a missing result', { messages: [question, assistant(use('a'), use('b'), use('c')), user(result('b'))] }, missing('a, c')],
    [
      'one message for each result',
      { messages: [question, assistant(use('a'), use('b')), user(result('a')), user(result('b'))] },
      missing('b'),
    ],
    ['a result without its call', { messages: [user(result('a'))] }, stray(0, 'a')],
    ['a result that is there twice', { messages: [question, assistant(use('a')), user(result('a'), result('a'))] }, stray(2, 'a')],
    [
      'text before results',
      { messages: [question, assistant(use('a')), user(text, result('a'))] },
      'messages.2: tool_result blocks must come before all other content',
    ],
    [
      'five breakpoints',
      {
        messages: [user(...Array.from({ length: 4 }, () => ({ ...text, cache_control: { type: 'ephemeral' } })))],
        system: [{ ...text, cache_control: { type: 'ephemeral' } }],
      },
      'cache_control: at most 4 blocks may have it, found 5',
    ],
    ['a small budget', { thinking: { type: 'enabled', budget_tokens: 1023 } }, 'thinking.enabled.budget_tokens: at least 1024'],
    ['a budget that leaves nothing', { thinking, max_tokens: 1024 }, 'max_tokens: must be greater than thinking.budget_tokens'],
    [
      'a forced tool while thinking',
      { thinking, tool_choice: { type: 'any' } },
      'Thinking may not be enabled when tool_choice forces tool use.',
    ],
    [
      'a made-up signature',
      { messages: [question, assistant({ type: 'thinking', thinking: 'Hm.', signature: 'x' }, text), question] },
      'messages.1.content.0: invalid signature in thinking block',
    ],
    [
      'calls without their thinking',
      { thinking, messages: [question, assistant(text, use('a')), user(result('a'))] },
      'messages.1.content.0.type: expected thinking or redacted_thinking, but found text',
    ],
  ])('refuses %s', async (_, more, message) => {
    expect(await send(more)).toEqual(refusal(message));
  });

  it('takes its own thinking back, and neither a changed text nor a message that ends with it', async () => {
    const { body } = await send({ thinking, messages: [question] });
    const content = objectsOf(body.content);
    const [thought, call] = content as [JsonObject, JsonObject];
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    const follow = (...blocks: JsonObject[]) =>
      send({ thinking, messages: [question, assistant(...blocks), user(result(String(call.id)))] });
    expect((await follow(thought, call)).status).toBe(200);
    expect(await follow({ ...thought, thinking: 'Hm.' }, call)).toEqual(
      refusal('messages.1.content.0: invalid signature in thinking block'),
    );
    expect(await follow(thought, call, thought)).toEqual(refusal('messages.1: the final block in an assistant message cannot be thinking'));
  });

  it('says in a plain answer that an input is no object', async () => {
    const { body } = await send({ messages: [{ role: 'user', content: 'call weather {broken' }] });
    expect(body).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'My input for weather is no JSON object: {broken' }],
    });
  });

  it('judges a transcript that is only to be counted, and asks for no max_tokens there', async () => {
    const count = (more: object) => ask('/v1/messages/count_tokens', request({ max_tokens: undefined, ...more }), VERSION);
    expect(await count({})).toEqual({ status: 200, body: { input_tokens: expect.any(Number) } });
    expect(await count({ messages: [question, assistant(use('a'))] })).toEqual(refusal(missing('a')));
  });

  it('knows no other models', async () => {
    expect(await send({ model: 'claude' })).toEqual({
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message: 'No model named claude' }, request_id: expect.any(String) },
    });
  });
});
