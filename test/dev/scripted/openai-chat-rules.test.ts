import { describe, expect, it } from 'vitest';
import { ask } from './ask.ts';

const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const call = (id: string) => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'rain' });
const user = { role: 'user', content: 'say hi' };
const calls = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
const send = (body: object) => ask('/v1/chat/completions', { model: 'scripted-test', messages: [user], tools: [tool('weather')], ...body });

describe('Chat Completions', () => {
  it.each([
    ['results in any order', { messages: [user, calls, result('b'), result('a')] }],
    ['ids that come again in a later reply', { messages: [user, calls, result('a'), result('b'), calls, result('a'), result('b')] }],
    ['128 tools', { tools: Array.from({ length: 128 }, (_, index) => tool(`t${index}`)), tool_choice: 'none', parallel_tool_calls: false }],
  ])('takes %s', async (_, body) => {
    expect((await send(body)).status).toBe(200);
  });

  const unanswered =
    "An assistant message with 'tool_calls' must be followed by tool messages that answer each 'tool_call_id'; no answer to: ";
  it.each([
    ['no messages', { messages: [] }, 'messages: a list with at least one message'],
    ['an empty list of tools', { tools: [] }, 'tools: [] is too short, leave it out instead'],
    ['129 tools', { tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }, 'tools: at most 128, got 129'],
    ['a choice without tools', { tools: undefined, tool_choice: 'none' }, "'tool_choice' is only allowed when 'tools' are specified"],
    [
      'parallel_tool_calls without tools',
      { tools: undefined, parallel_tool_calls: true },
      "'parallel_tool_calls' is only allowed when 'tools' are specified",
    ],
    ['a bad name', { tools: [tool('eval_code@1.0.0')] }, 'tools[0]: the name does not match ^[a-zA-Z0-9_-]{1,64}$'],
    ['a name that is there twice', { tools: [tool('a'), tool('a')] }, 'tools: the name a is there twice'],
    [
      'stream_options without stream',
      { stream_options: { include_usage: true } },
      "'stream_options' is only allowed when 'stream' is enabled",
    ],
    [
      'no calls in a list',
      { messages: [user, { role: 'assistant', content: '', tool_calls: [] }] },
      'messages[1].tool_calls: [] is too short, leave it out instead',
    ],
    [
      'a long id',
      { messages: [user, { ...calls, tool_calls: [call('x'.repeat(41))] }, result('x'.repeat(41))] },
      'messages[1].tool_calls[0].id: a text of 1 to 40 characters',
    ],
    [
      'arguments that are an object',
      { messages: [user, { ...calls, tool_calls: [{ ...call('a'), function: { name: 'weather', arguments: {} } }] }, result('a')] },
      'messages[1].tool_calls[0].function.arguments: expected a string',
    ],
    ['a call without its result', { messages: [user, calls, result('a')] }, `${unanswered}b`],
    ['a result that comes later', { messages: [user, calls, result('a'), user, result('b')] }, `${unanswered}b`],
    [
      'a result without its call',
      { messages: [user, result('a')] },
      "messages[1]: a message with role 'tool' must answer a call of the message with 'tool_calls' before it",
    ],
    [
      'a result that is there twice',
      { messages: [user, calls, result('a'), result('a'), result('b')] },
      "messages[3]: a message with role 'tool' must answer a call of the message with 'tool_calls' before it",
    ],
  ])('refuses %s', async (_, body, message) => {
    expect(await send(body)).toEqual({ status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } });
  });
});
