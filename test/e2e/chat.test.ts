import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { type MockUpstream, sendEvents, sendJson, startMockUpstream } from '../support/mock-upstream.ts';
import { chatChunk, chatReply, streamedReply } from '../support/openai-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-upstream' });
  client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];
const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};
const messagesOf = (index: number): JsonObject[] => objectsOf(upstream.requests[index]?.body.messages);
const write = (path: string, content: string) => JSON.stringify({ path, content });

async function management(method: string, path: string, body?: unknown): Promise<JsonObject> {
  const response = await fetch(`${stack.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${stack.managementToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject;
}

const skillId = async (name: string): Promise<string> => {
  const { data } = await management('GET', `/api/skills?q=${name}`);
  return String(objectsOf(data).find((skill) => skill.name === name)?.id);
};

/** What the SDK's own accumulator makes of a stream. */
async function accumulate(params: Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'stream'>) {
  return client.chat.completions
    .stream({ ...params, stream: true } as Parameters<typeof client.chat.completions.stream>[0])
    .finalChatCompletion();
}

describe('the OpenAI SDK against the gateway', () => {
  it('injects the skills that are on, and sends the provider its own key', async () => {
    upstream.play(chatReply({ text: 'hello' }));
    const { data, response } = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi') }).withResponse();
    expect(data.choices[0]?.message.content).toBe('hello');
    const injected = response.headers.get('x-omniroute-skills-injected');
    expect(injected).toBe('eval_code@1.0.0, file_read@1.0.0, file_write@1.0.0, http_request@1.0.0, web_search@1.0.0');
    const names = objectsOf(upstream.requests[0]?.body.tools).map((tool) => (tool.function as JsonObject).name);
    expect(names).toEqual(['eval_code_v1_0_0', 'file_read_v1_0_0', 'file_write_v1_0_0', 'http_request_v1_0_0', 'web_search_v1_0_0']);
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-upstream');
    expect(upstream.requests[0]?.path).toBe('/v1/chat/completions');
    expect(upstream.requests[0]?.text).not.toContain(stack.apiKey);
  });

  it.each([false, true])('runs owned calls and returns one answer (streamed: %s)', async (streamed) => {
    const path = `notes-${streamed}.txt`;
    upstream.play(
      chatReply({ text: 'Writing. ', calls: [['call_1', 'file_write_v1_0_0', write(path, 'forty-two')]] }),
      chatReply({
        calls: [
          ['call_1', 'file_read_v1_0_0', JSON.stringify({ path })],
          ['call_2', 'file_read_v1_0_0', '{"path":"nowhere"}'],
        ],
        id: 'chatcmpl-2',
      }),
      chatReply({ text: 'It says forty-two.', id: 'chatcmpl-3' }),
    );
    const params = { model: 'gpt-x', messages: ask('write and read') };
    const completion = await (streamed
      ? accumulate({ ...params, stream_options: { include_usage: true } })
      : client.chat.completions.create(params));
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Writing. It says forty-two.' },
    });
    expect(completion.choices[0]?.message.tool_calls ?? []).toEqual([]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
    expect(
      messagesOf(2)
        .slice(1)
        .map((message) => [message.role, message.tool_call_id]),
    ).toEqual([
      ['assistant', undefined],
      ['tool', 'call_1'],
      ['assistant', undefined],
      ['tool', 'call_1'],
      ['tool', 'call_2'],
    ]);
    const results = messagesOf(2)
      .filter((message) => message.role === 'tool')
      .map((message) => JSON.parse(String(message.content)) as JsonObject);
    expect(results).toEqual([
      { success: true, path, bytesWritten: 9 },
      { success: true, path, content: 'forty-two', bytesRead: 9, encoding: 'utf8' },
      { success: false, error: 'Skill file not found: nowhere' },
    ]);
  });

  it('runs writes of one file in the order of their calls', async () => {
    const calls = Array.from({ length: 12 }, (_, line): [string, string, string] => {
      const input = { path: 'order.txt', content: `${line};`, append: true };
      return [`call_${line}`, 'file_write_v1_0_0', JSON.stringify(input)];
    });
    upstream.play(
      chatReply({ calls }),
      chatReply({ calls: [['call_r', 'file_read_v1_0_0', '{"path":"order.txt"}']] }),
      chatReply({ text: 'ok' }),
    );
    await client.chat.completions.create({ model: 'gpt-x', messages: ask('write') });
    expect(JSON.parse(String(messagesOf(2).at(-1)?.content))).toMatchObject({ content: '0;1;2;3;4;5;6;7;8;9;10;11;' });
  });

  it('reports rounds and executions, and records them', async () => {
    upstream.play(chatReply({ calls: [['call_r', 'file_read_v1_0_0', '{"path":"missing.txt"}']] }), chatReply({ text: 'no file' }));
    const { data, response } = await client.chat.completions.create({ model: 'gpt-x', messages: ask('read') }).withResponse();
    const { omniroute } = data as unknown as { omniroute: { rounds: number; executions: JsonObject[]; usage_by_round: unknown[] } };
    expect(omniroute).toMatchObject({ rounds: 2, executions: [{ skill: 'file_read@1.0.0', status: 'error' }], usage_by_round: [{}, {}] });
    expect(JSON.parse(response.headers.get('x-omniroute-executions') ?? '')).toEqual(omniroute.executions);
    const listed = await fetch(`${stack.url}/api/skills/executions/${omniroute.executions[0]?.id}`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    });
    expect(await listed.json()).toMatchObject({
      callId: 'call_r',
      status: 'error',
      errorMessage: 'Skill file not found: missing.txt',
      skillName: 'file_read',
    });
  });

  it('tells the model about arguments that cannot be read or do not fit, without running anything', async () => {
    upstream.play(
      chatReply({
        calls: [
          ['a', 'file_read_v1_0_0', '{"path":'],
          ['b', 'file_read_v1_0_0', ''],
          ['c', 'file_write_v1_0_0', '{"path":"x","content":1}'],
        ],
      }),
      chatReply({ text: 'sorry' }),
    );
    const completion = await client.chat.completions.create({ model: 'gpt-x', messages: ask('read') });
    const errors = messagesOf(1)
      .filter((message) => message.role === 'tool')
      .map((message) => (JSON.parse(String(message.content)) as JsonObject).error);
    expect(errors).toEqual([
      expect.stringContaining('The arguments are not valid JSON: '),
      'Missing required field: path',
      expect.stringContaining('content'),
    ]);
    expect((completion as unknown as { omniroute: { executions: unknown[] } }).omniroute.executions).toEqual([]);
  });

  it.each([false, true])('hides its part of a mixed turn and restores it when the client comes back (streamed: %s)', async (streamed) => {
    const path = `mixed-${streamed}.txt`;
    upstream.play(
      chatReply({
        text: 'Both. ',
        calls: [
          ['call_w', 'get_weather', '{"city":"Oslo"}'],
          ['call_f', 'file_write_v1_0_0', write(path, 'x')],
        ],
      }),
    );
    const params = { model: 'gpt-x', messages: ask('weather and file'), tools: [weather] };
    const first = await (streamed ? accumulate(params) : client.chat.completions.create(params));
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message?.tool_calls?.map((call) => call.type === 'function' && call.function)).toMatchObject([
      { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    ]);
    const id = String(message?.tool_calls?.[0]?.id);
    expect(id).not.toBe('call_w');

    upstream.play(chatReply({ text: 'Rain, and written.' }));
    const history = [
      ...ask('weather and file'),
      message as OpenAI.ChatCompletionMessageParam,
      { role: 'tool' as const, tool_call_id: id, content: 'rain' },
    ];
    const second = await client.chat.completions.create({ ...params, messages: history });
    expect(second.choices[0]?.message.content).toBe('Rain, and written.');
    expect(messagesOf(0)).toMatchObject([
      { role: 'user', content: 'weather and file' },
      { role: 'assistant', content: 'Both. ', tool_calls: [{ id: 'call_w' }, { id: 'call_f', function: { name: 'file_write_v1_0_0' } }] },
      { role: 'tool', tool_call_id: 'call_w', content: 'rain' },
      { role: 'tool', tool_call_id: 'call_f', content: expect.stringContaining('"success":true') },
    ]);
  });

  it('keeps the history right when a streamed turn turns out to be the client’s alone', async () => {
    upstream.play(streamedReply({ calls: [['call_w', 'get_weather', '{}']] }));
    const params = { model: 'gpt-x', messages: ask('weather'), tools: [weather] };
    const message = (await accumulate(params)).choices[0]?.message;
    const id = String(message?.tool_calls?.[0]?.id);
    upstream.play(chatReply({ text: 'rain' }));
    await client.chat.completions.create({
      ...params,
      messages: [...ask('weather'), message as OpenAI.ChatCompletionMessageParam, { role: 'tool', tool_call_id: id, content: 'rain' }],
    });
    expect(messagesOf(0)).toMatchObject([{}, { tool_calls: [{ id: 'call_w' }] }, { role: 'tool', tool_call_id: 'call_w' }]);
  });

  it('answers 409 for a turn that it does not know, also when it is another key’s', async () => {
    upstream.play(
      chatReply({
        calls: [
          ['call_w', 'get_weather', '{}'],
          ['call_f', 'file_read_v1_0_0', '{"path":"a"}'],
        ],
      }),
    );
    const params = { model: 'gpt-x', messages: ask('mixed'), tools: [weather] };
    const message = (await client.chat.completions.create(params)).choices[0]?.message as OpenAI.ChatCompletionMessage;
    const id = String(message.tool_calls?.[0]?.id);
    const back = { ...params, messages: [...ask('mixed'), message, { role: 'tool' as const, tool_call_id: id, content: 'rain' }] };
    const { key } = await management('POST', '/api/keys', { name: 'another' });
    const another = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: String(key), maxRetries: 0 });
    await expect(another.chat.completions.create(back)).rejects.toMatchObject({ status: 409, code: 'unknown_suspended_turn' });
  });

  it.each([false, true])('inline mode runs one round and puts the results into the reply (streamed: %s)', async (streamed) => {
    upstream.play(chatReply({ text: 'Reading.', calls: [['call_i', 'file_read_v1_0_0', '{"path":"nothing"}']] }));
    const options = { headers: { 'x-omniroute-skills': 'inline' } };
    const params = { model: 'gpt-x', messages: ask('read') };
    let results: unknown;
    if (streamed) {
      for await (const chunk of await client.chat.completions.create({ ...params, stream: true }, options))
        results ??= (chunk as unknown as JsonObject).tool_results;
    } else {
      const reply = await client.chat.completions.create(params, options);
      expect(reply.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ id: 'call_i' }] } });
      results = (reply as unknown as JsonObject).tool_results;
    }
    expect(results).toEqual([{ tool_call_id: 'call_i', output: '{"success":false,"error":"Skill file not found: nothing"}' }]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('off forwards the bytes of both directions as they are', async () => {
    const sent = '{ "model":"gpt-x",  "messages":[{"role":"user","content":"h\\u00e9"}], "odd" : 1e0 }';
    upstream.play(sendJson({ whatever: ['it', 'is'] }, 200, { 'x-request-id': 'req_1' }));
    const response = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', 'x-omniroute-skills': 'off' },
      body: sent,
    });
    expect(await response.text()).toBe('{"whatever":["it","is"]}');
    expect(response.headers.get('x-request-id')).toBe('req_1');
    expect(response.headers.has('x-omniroute-skills-injected')).toBe(false);
    expect(upstream.requests[0]?.text).toBe(sent);
  });

  it.each<[string, object]>([
    ['tool_choice none', { tool_choice: 'none', tools: [weather] }],
    ['n above 1', { n: 2 }],
  ])('injects nothing with %s', async (_, fields) => {
    upstream.play(chatReply({ text: 'ok' }));
    await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi'), ...fields });
    expect(objectsOf(upstream.requests[0]?.body.tools).length).toBe('tools' in fields ? 1 : 0);
  });

  it('parks a call of a hybrid skill: not run, row pending, the model told', async () => {
    upstream.play(chatReply({ calls: [['call_h', 'eval_code_v1_0_0', '{"code":"1+1"}']] }), chatReply({ text: 'Please approve.' }));
    const reply = (await client.chat.completions.create({ model: 'gpt-x', messages: ask('compute') })) as unknown as {
      omniroute: { executions: JsonObject[] };
    };
    expect(String(messagesOf(1).at(-1)?.content)).toContain('NOT run');
    expect(reply.omniroute.executions).toMatchObject([{ skill: 'eval_code@1.0.0', status: 'pending' }]);
  });

  it.each([false, true])('runs code in a container (streamed: %s)', async (streamed) => {
    const id = await skillId('eval_code');
    await management('PUT', `/api/skills/${id}`, { policy: 'auto' });
    try {
      upstream.play(
        chatReply({ calls: [['call_e', 'eval_code_v1_0_0', JSON.stringify({ code: 'console.log(6*7)' })]] }),
        chatReply({ text: '42' }),
      );
      const params = { model: 'gpt-x', messages: ask('compute') };
      await (streamed ? accumulate(params) : client.chat.completions.create(params));
      expect(JSON.parse(String(messagesOf(1).at(-1)?.content))).toMatchObject({
        success: true,
        stdout: '42\n',
        exitCode: 0,
        image: 'node:22-alpine',
      });
    } finally {
      await management('PUT', `/api/skills/${id}`, { policy: 'hybrid' });
    }
  });
});

describe('failures of the provider', () => {
  it('a stream is over with [DONE], whatever comes behind it', async () => {
    upstream.play((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [chatChunk({ role: 'assistant', content: 'all' }), chatChunk({}, 'stop')])
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.write(`data: [DONE]\n\ndata: ${JSON.stringify(chatChunk({ content: 'more' }))}\n\n`);
    });
    const completion = await accumulate({ model: 'gpt-x', messages: ask('hi') });
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'all' } });
  });

  it.each([{ choices: [] }, { choices: { '0': 1 } }, { choices: [{ message: null }] }, {}])(
    'JSON that is no reply is told as such: %j',
    async (body) => {
      upstream.play(sendJson(body));
      await expect(client.chat.completions.create({ model: 'gpt-x', messages: ask('hi') })).rejects.toMatchObject({
        status: 502,
        code: 'upstream_invalid',
      });
    },
  );

  it.each([false, true])('keep their status, body and retry-after (streamed: %s)', async (stream) => {
    upstream.play(sendJson({ error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit' } }, 429, { 'retry-after': '7' }));
    const failure = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi'), stream }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 429, code: 'rate_limit' });
    expect((failure as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7');
  });

  it.each<[string, Parameters<MockUpstream['play']>[0], number]>([
    ['HTML', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 502],
    ['an empty body', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(), 502],
    [
      'half a body',
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).end('{"id":').destroy(),
      502,
    ],
    ['an error page', (_, response) => void response.writeHead(503, { 'content-type': 'text/html' }).end('<html>'), 503],
    ['a hang-up', (_, response) => void response.destroy(), 502],
  ])('that are %s become an error in OpenAI’s shape', async (_, handler, status) => {
    for (const stream of [false, true]) {
      upstream.play(handler);
      const response = await fetch(`${stack.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', messages: ask('hi'), stream }),
      });
      expect([response.status, await response.json()]).toMatchObject([
        status,
        { error: { message: expect.any(String), code: expect.any(String) } },
      ]);
    }
  });

  it.each<[string, Parameters<MockUpstream['play']>]>([
    ['half a stream', [sendEvents(chatChunk({ role: 'assistant', content: 'half' }))]],
    ['an error event', [sendEvents(chatChunk({ content: 'a' }), { error: { message: 'overloaded' } })]],
    ['garbage', [sendEvents(chatChunk({ content: 'a' }), '{"half":')]],
    [
      'a refusal in round 2',
      [streamedReply({ calls: [['c', 'file_read_v1_0_0', '{"path":"a"}']] }), sendJson({ error: { message: 'no' } }, 500)],
    ],
  ])('in mid-stream end the stream with an error: %s', async (_, handlers) => {
    upstream.play(...handlers);
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi'), stream: true });
    const finishes: unknown[] = [];
    const drain = async () => {
      for await (const chunk of stream) finishes.push(chunk.choices[0]?.finish_reason);
    };
    await expect(drain()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(finishes.every((finish) => finish === null)).toBe(true);
  });

  it('a refusal in a later plain round keeps its status', async () => {
    upstream.play(chatReply({ calls: [['c', 'file_read_v1_0_0', '{"path":"a"}']] }), sendJson({ error: { message: 'later' } }, 503));
    await expect(client.chat.completions.create({ model: 'gpt-x', messages: ask('hi') })).rejects.toMatchObject({ status: 503 });
  });
});

describe('a client that leaves or waits', () => {
  it('takes the upstream call of its stream with it', async () => {
    let closed: Promise<void> = Promise.resolve();
    upstream.play((_, response, gone) => {
      closed = gone;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'a' }))}\n\n`);
    });
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi'), stream: true });
    for await (const _ of stream) break;
    await closed;
  });

  it('takes its running tools with it, and the row says so', async () => {
    const id = await skillId('eval_code');
    await management('PUT', `/api/skills/${id}`, { policy: 'auto' });
    const session = `leaver-${Date.now()}`;
    upstream.play(
      streamedReply({ text: 'Running. ', calls: [['c', 'eval_code_v1_0_0', JSON.stringify({ code: 'setTimeout(() => {}, 9000)' })]] }),
    );
    const options = { headers: { 'x-omniroute-session': session } };
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi'), stream: true }, options);
    const status = async () => {
      const { data } = await management('GET', '/api/skills/executions?skill=eval_code');
      return objectsOf(data).find((execution) => execution.sessionId === session)?.status;
    };
    await expect.poll(status, { timeout: 10_000 }).toBe('running');
    stream.controller.abort();
    await expect.poll(status, { timeout: 5_000 }).toBe('error');
    await management('PUT', `/api/skills/${id}`, { policy: 'hybrid' });
  });

  it.each(['chat', 'rest'])('takes the running tools of a plain request with it (%s)', async (kind) => {
    const id = await skillId('eval_code');
    await management('PUT', `/api/skills/${id}`, { policy: 'auto' });
    const session = `plain-${kind}-${Date.now()}`;
    const input = { code: 'setTimeout(() => {}, 9000)' };
    upstream.play(chatReply({ calls: [['c', 'eval_code_v1_0_0', JSON.stringify(input)]] }), chatReply({ text: 'too late' }));
    const [path, body] =
      kind === 'chat'
        ? ['/v1/chat/completions', { model: 'gpt-x', messages: ask('hi') }]
        : ['/api/skills/executions', { skillName: 'eval_code', input, sessionId: session }];
    const leaver = new AbortController();
    const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', 'x-omniroute-session': session };
    const reply = fetch(`${stack.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal: leaver.signal });
    const execution = async () => {
      const { data } = await management('GET', '/api/skills/executions?skill=eval_code');
      return objectsOf(data).find((row) => row.sessionId === session);
    };
    await expect.poll(async () => (await execution())?.status, { timeout: 10_000 }).toBe('running');
    leaver.abort();
    await expect(reply.then((response) => response.text())).rejects.toThrow();
    await expect.poll(execution, { timeout: 8_000 }).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left' });
    expect(upstream.requests.length).toBe(kind === 'chat' ? 1 : 0);
    await management('PUT', `/api/skills/${id}`, { policy: 'hybrid' });
  });

  it('gets the whole answer when a plain request is slow', async () => {
    const id = await skillId('eval_code');
    await management('PUT', `/api/skills/${id}`, { policy: 'auto' });
    upstream.play(
      chatReply({ calls: [['c', 'eval_code_v1_0_0', JSON.stringify({ code: 'setTimeout(() => console.log(7), 4500)' })]] }),
      chatReply({ text: 'seven' }),
    );
    const completion = await client.chat.completions.create({ model: 'gpt-x', messages: ask('hi') });
    expect(completion.choices[0]?.message.content).toBe('seven');
    await management('PUT', `/api/skills/${id}`, { policy: 'hybrid' });
  });
});
