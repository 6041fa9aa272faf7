import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { codeFor } from '../../dev/scripted/code-for.ts';
import { readDirectives } from '../../dev/scripted/directives.ts';
import { inputFor } from '../../dev/scripted/input-for.ts';
import { decide, type Turn } from '../../dev/scripted/script.ts';
import { summarizeResults } from '../../dev/scripted/summarize-results.ts';
import { createScriptedModel } from '../../dev/scripted-model.ts';

const evalCode = { name: 'eval_code_v1_0_0', parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } };
const weather = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };

const turn = (userText: string, more: Partial<Turn> = {}): Turn => ({
  userText,
  tools: [evalCode, weather],
  toolChoice: 'auto',
  results: [],
  rounds: 0,
  ...more,
});

describe('codeFor', () => {
  it.each([
    ['What is 2 + 3?', 'console.log(2 + 3);', 'javascript'],
    ['Please calculate the value of (1.5 * 4) % 5', 'console.log((1.5 * 4) % 5);', 'javascript'],
    ['how much is -7*6', 'console.log(-7*6);', 'javascript'],
    ['Run this:\n```python\nprint(1)\n```', 'print(1)', 'python'],
    ['Run this:\n```js\nconsole.log(1)\n```', 'console.log(1)', 'javascript'],
    ['and\n```\nlet a = 1;\nconsole.log(a)\n```', 'let a = 1;\nconsole.log(a)', 'javascript'],
  ])('%j is answered by %j', (question, code, language) => {
    expect(codeFor(question)).toEqual({ code, language });
  });

  it.each([
    'What is the weather today?',
    'What is 42?',
    'Tell me about primes',
    'run\n```rust\nfn main() {}\n```',
    'In 2024 - 2025 we met',
  ])('no program answers %j', (question) => {
    expect(codeFor(question)).toBeUndefined();
  });

  it('writes a program that prints primes', async () => {
    const input = codeFor('List the first 10 primes.');
    const printed: string[] = [];
    new Function('console', input?.code ?? '')({ log: (line: string) => printed.push(line) });
    expect(printed).toEqual(['2, 3, 5, 7, 11, 13, 17, 19, 23, 29']);
  });
});

describe('readDirectives', () => {
  it('groups calls of one reply and begins the next at "then"', () => {
    expect(readDirectives('Hello\ncall a {"x": 1}\ncall b\nthen\nsay all done')).toEqual([
      {
        text: '',
        calls: [
          { name: 'a', arguments: '{"x": 1}' },
          { name: 'b', arguments: '{}' },
        ],
      },
      { text: 'all done', calls: [] },
    ]);
  });

  it('finds none in ordinary text, not even with the word "then" on its own line', () => {
    expect(readDirectives('Would you say hello?\nthen\nplease call')).toEqual([]);
  });

  it('keeps arguments that are no JSON as they are', () => {
    expect(readDirectives('call a {broken')[0]?.calls).toEqual([{ name: 'a', arguments: '{broken' }]);
  });
});

describe('decide', () => {
  it('calls eval_code when a program answers the question', () => {
    expect(decide(turn('What is 2 + 3?'))).toEqual({
      text: 'Let me run that. ',
      calls: [{ name: 'eval_code_v1_0_0', arguments: '{"code":"console.log(2 + 3);","language":"javascript"}' }],
    });
  });

  it('calls nothing when no tool fits, tools are forbidden or none are offered', () => {
    expect(decide(turn('How are you?')).calls).toEqual([]);
    expect(decide(turn('What is 2 + 3?', { toolChoice: 'none' })).calls).toEqual([]);
    expect(decide(turn('What is 2 + 3?', { tools: [] }))).toEqual({
      text: 'I am a scripted model for development and was offered no tools. You said: What is 2 + 3?',
      calls: [],
    });
  });

  it('tells the results once they are there', () => {
    const results = [{ name: 'eval_code_v1_0_0', text: '{"success":true,"stdout":"5\\n","exitCode":0}' }];
    expect(decide(turn('What is 2 + 3?', { results, rounds: 1 }))).toEqual({ text: 'eval_code answered: 5', calls: [] });
  });

  it('follows directives step by step and tells the results when they are through', () => {
    const text = 'say First. \ncall eval_code {"code":"1"}\ncall weather {"city":"Oslo"}\nthen\ncall weather';
    expect(decide(turn(text))).toEqual({
      text: 'First.',
      calls: [
        { name: 'eval_code_v1_0_0', arguments: '{"code":"1"}' },
        { name: 'weather', arguments: '{"city":"Oslo"}' },
      ],
    });
    expect(decide(turn(text, { rounds: 1, results: [{ name: 'weather', text: 'rain' }] })).calls).toEqual([
      { name: 'weather', arguments: '{}' },
    ]);
    expect(decide(turn(text, { rounds: 2, results: [{ name: 'weather', text: 'rain' }] }))).toEqual({
      text: 'weather answered: rain',
      calls: [],
    });
  });

  it('calls a tool by name@version as it stands, and no tool that it was not offered', () => {
    expect(decide(turn('call eval_code@1.0.0 {}')).calls).toEqual([{ name: 'eval_code@1.0.0', arguments: '{}' }]);
    expect(decide(turn('call browser {}'))).toEqual({
      text: 'I was not offered a tool named browser, only: eval_code_v1_0_0, weather.',
      calls: [],
    });
  });

  it('does not follow a call when tools are forbidden', () => {
    expect(decide(turn('call weather', { toolChoice: 'none' }))).toEqual({ text: 'I may not call any tool.', calls: [] });
  });

  it('calls the tool that is demanded, with an input that fits', () => {
    expect(decide(turn('Oslo', { toolChoice: { name: 'weather' } })).calls).toEqual([{ name: 'weather', arguments: '{"city":"Oslo"}' }]);
    expect(decide(turn('Oslo', { toolChoice: 'required' })).calls).toEqual([{ name: 'eval_code_v1_0_0', arguments: '{"code":"Oslo"}' }]);
  });
});

describe('inputFor', () => {
  it('fills the required properties by their types', () => {
    const properties = {
      text: { type: 'string' },
      count: { type: 'integer' },
      flag: { type: 'boolean' },
      unit: { type: 'string', enum: ['c', 'f'] },
      list: { type: 'array' },
      nested: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
      constant: { const: 'k' },
      nullable: { type: ['string', 'null'] },
      optional: { type: 'string' },
    };
    const required = Object.keys(properties).filter((name) => name !== 'optional');
    expect(inputFor({ type: 'object', properties, required }, 'take 12')).toEqual({
      text: 'take 12',
      count: 12,
      flag: true,
      unit: 'c',
      list: [],
      nested: { x: 12 },
      constant: 'k',
      nullable: 'take 12',
    });
  });
});

describe('summarizeResults', () => {
  it.each([
    ['plain text', 'plain text'],
    ['{"stdout":"","output":"out"}', 'out'],
    ['{"error":"Missing required field: code"}', 'Missing required field: code'],
    ['{"a":1}', '{"a":1}'],
    ['[1,2]', '[1,2]'],
    ['5', '5'],
  ])('of %j tells %j', (text, told) => {
    expect(summarizeResults([{ name: 'a', text }])).toBe(`a answered: ${told}`);
  });
});

describe('the server', () => {
  const app = createScriptedModel({ now: () => 1_700_000_000_000 });
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://model/v1',
    fetch: async (url, init) => app.request(String(url), init as RequestInit),
  });
  const tools = [
    { type: 'function' as const, function: evalCode },
    { type: 'function' as const, function: weather },
  ];
  const ask = 'say Both. \ncall weather {"city":"Oslo"}\ncall eval_code {"code":"console.log(\'äöü\')"}';

  it('answers as the official client expects', async () => {
    const body = await client.chat.completions.create({ model: 'scripted-demo', messages: [{ role: 'user', content: ask }], tools });
    expect(body).toMatchObject({ object: 'chat.completion', created: 1_700_000_000, model: 'scripted-demo' });
    expect(body.id).toMatch(/^chatcmpl-[A-Za-z0-9]{29}$/);
    const [choice] = body.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.content).toBe('Both.');
    expect(choice?.message.tool_calls?.map((call) => call.type === 'function' && call.function)).toEqual([
      { name: 'weather', arguments: '{"city":"Oslo"}' },
      { name: 'eval_code_v1_0_0', arguments: '{"code":"console.log(\'äöü\')"}' },
    ]);
    expect(body.usage?.total_tokens).toBe((body.usage?.prompt_tokens ?? 0) + (body.usage?.completion_tokens ?? 0));
    expect(body.usage?.prompt_tokens).toBeGreaterThan(0);
  });

  it('streams what it would have answered plainly', async () => {
    const request = { model: 'scripted-demo', messages: [{ role: 'user' as const, content: ask }], tools };
    const plain = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion();
    const essence = (body: OpenAI.ChatCompletion) => ({
      ...body.choices[0]?.message,
      parsed: undefined,
      finish: body.choices[0]?.finish_reason,
      usage: body.usage,
      tool_calls: body.choices[0]?.message.tool_calls?.map(
        (call) => call.type === 'function' && [call.function.name, call.function.arguments],
      ),
    });
    expect(essence(streamed)).toEqual(essence(plain));
  });

  it('sends usage when asked and only then, and ends with [DONE]', async () => {
    const lines = async (more: object): Promise<string[]> => {
      const messages = [{ role: 'user', content: 'say one two three' }];
      const body = JSON.stringify({ model: 'scripted-demo', stream: true, messages, ...more });
      const response = await app.request('/v1/chat/completions', { method: 'POST', body });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      return (await response.text()).split('\n\n').filter((line) => line !== '');
    };
    const without = await lines({});
    expect(without.at(-1)).toBe('data: [DONE]');
    expect(without.length).toBe(1 + 3 + 1 + 1);
    expect(without.some((line) => line.includes('usage'))).toBe(false);
    const withUsage = await lines({ stream_options: { include_usage: true } });
    expect(JSON.parse(withUsage.at(-2)?.slice('data: '.length) ?? '')).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
  });

  it('reads a conversation with results, as text or as parts', async () => {
    const body = await client.chat.completions.create({
      model: 'scripted-demo',
      messages: [
        { role: 'user', content: 'say old' },
        { role: 'assistant', content: 'old' },
        { role: 'user', content: [{ type: 'text', text: 'What is 2 + 3?' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'eval_code_v1_0_0', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '{"stdout":"5\\n"}' }] },
      ],
      tools,
    });
    expect(body.choices[0]?.message.content).toBe('eval_code answered: 5');
    expect(body.choices[0]?.finish_reason).toBe('stop');
  });

  it('answers n times when asked to', async () => {
    const body = await client.chat.completions.create({ model: 'scripted-demo', n: 2, messages: [{ role: 'user', content: 'say x' }] });
    expect(body.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'x'],
      [1, 'x'],
    ]);
  });

  it('lists its models', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted-demo', 'scripted-test']);
  });

  it.each([
    ['not JSON', '{', 400, 'The body is not a JSON object'],
    ['no messages', '{"model":"scripted-demo","messages":[]}', 400, 'messages: a list with at least one message'],
    ['another model', '{"model":"gpt-5","messages":[{"role":"user","content":"x"}]}', 404, 'No model named gpt-5'],
  ])('refuses %s', async (_, body, status, message) => {
    const response = await app.request('/v1/chat/completions', { method: 'POST', body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message } });
  });

  it('has no other endpoint', async () => {
    const response = await app.request('/v1/embeddings', { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: 'No such endpoint: POST /v1/embeddings' } });
  });
});
