import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import {
  blockDelta,
  blockStart,
  errorReply,
  messageEvents,
  messageReply,
  messageStart,
  redactedThinking,
  text,
  thinking,
  toolUse,
} from '../support/anthropic-replies.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, sendJson, sendNamedEvents, startMockUpstream } from '../support/mock-upstream.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let client: Anthropic;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ ANTHROPIC_BASE_URL: upstream.url, ANTHROPIC_API_KEY: 'sk-ant-upstream' });
  management = manageStack(stack);
  client = new Anthropic({ baseURL: stack.url, apiKey: stack.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

type Params = Anthropic.MessageCreateParamsNonStreaming;

const ask = (content: string, fields: Partial<Params> = {}): Params => ({
  model: 'claude-x',
  max_tokens: 1_000,
  messages: [{ role: 'user', content }],
  ...fields,
});
const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};
const OSLO = { city: 'Oslo' };

/** The answer, either plain or as the SDK's own accumulator makes it of a stream. */
const send = (streamed: boolean, params: Params, headers: Record<string, string> = {}): Promise<Anthropic.Message> =>
  streamed ? client.messages.stream(params, { headers }).finalMessage() : client.messages.create(params, { headers });

const sent = (index: number): JsonObject => upstream.requests[index]?.body ?? {};
const messagesOf = (index: number): JsonObject[] => objectsOf(sent(index).messages);
const resultsOf = (message: JsonObject | undefined): JsonObject[] =>
  objectsOf(message?.content).filter((block) => block.type === 'tool_result');
const readResult = (result: JsonObject | undefined): JsonObject => JSON.parse(String(result?.content)) as JsonObject;

/** The next request of a client that has answered the calls of a reply. */
const answered = (params: Params, reply: Anthropic.Message, answer: string): Params => ({
  ...params,
  messages: [
    ...params.messages,
    { role: 'assistant', content: reply.content },
    {
      role: 'user',
      content: reply.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: answer }] : [],
      ),
    },
  ],
});

describe('the Anthropic SDK against the gateway', () => {
  it('injects the skills that are on; the provider gets its own key and the client’s headers', async () => {
    upstream.play(messageReply({ content: [text('hello')] }));
    const { data, response } = await client.messages
      .create(ask('hi', { tools: [weather] }), { headers: { 'anthropic-beta': 'some-beta-2026-01-01', 'x-custom': 'secret' } })
      .withResponse();
    expect(data).toMatchObject({ id: 'msg_mock', content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn' });
    const injected = response.headers.get('x-omniroute-skills-injected');
    expect(injected).toBe('eval_code@1.0.0, file_read@1.0.0, file_write@1.0.0, http_request@1.0.0, web_search@1.0.0');
    const tools = objectsOf(sent(0).tools);
    expect(tools.map((tool) => tool.name)).toEqual([
      'eval_code_v1_0_0',
      'file_read_v1_0_0',
      'file_write_v1_0_0',
      'http_request_v1_0_0',
      'web_search_v1_0_0',
      'get_weather',
    ]);
    expect(tools.every((tool) => (tool.input_schema as JsonObject).type === 'object')).toBe(true);
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v1/messages');
    expect(request?.headers).toMatchObject({
      'x-api-key': 'sk-ant-upstream',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'some-beta-2026-01-01',
    });
    expect(request?.headers).not.toHaveProperty('x-custom');
    expect(JSON.stringify(request)).not.toContain(stack.apiKey);
  });

  it('counts tokens at the provider, with the bytes as they came', async () => {
    upstream.play(sendJson({ input_tokens: 17 }));
    const { model, messages } = ask('hi');
    expect(await client.messages.countTokens({ model, messages })).toMatchObject({ input_tokens: 17 });
    expect(upstream.requests[0]).toMatchObject({ path: '/v1/messages/count_tokens', body: { model, messages } });
    expect(sent(0)).not.toHaveProperty('tools');
  });

  it.each([false, true])('runs owned calls and returns one answer (streamed: %s)', async (streamed) => {
    const path = `claude-${streamed}.txt`;
    upstream.play(
      messageReply({ content: [text('Writing. '), toolUse('toolu_1', 'file_write_v1_0_0', { path, content: 'forty-two' })], id: 'msg_1' }),
      messageReply({
        content: [toolUse('toolu_2', 'file_read_v1_0_0', { path }), toolUse('toolu_3', 'file_read_v1_0_0', { path: 'nowhere' })],
        id: 'msg_2',
      }),
      messageReply({ content: [text('It says forty-two.')], id: 'msg_3' }),
    );
    const reply = await send(streamed, ask('write and read'));
    expect(reply).toMatchObject({
      id: 'msg_1',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Writing. ' },
        { type: 'text', text: 'It says forty-two.' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 30, cache_read_input_tokens: 6, output_tokens: 15 },
    });
    expect(messagesOf(2).map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    const results = messagesOf(2).flatMap(resultsOf);
    expect(results.map((result) => [result.tool_use_id, result.is_error ?? false])).toEqual([
      ['toolu_1', false],
      ['toolu_2', false],
      ['toolu_3', true],
    ]);
    expect(results.map(readResult)).toEqual([
      { success: true, path, bytesWritten: 9 },
      { success: true, path, content: 'forty-two', bytesRead: 9, encoding: 'utf8' },
      { success: false, error: 'Skill file not found: nowhere' },
    ]);
  });

  it('streams one message with gapless blocks, as the events of MessageStream tell', async () => {
    upstream.play(
      messageReply({
        content: [thinking('Let me look.', 'sig-1'), text('Looking. '), toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' })],
      }),
      messageReply({ content: [text('Nothing there.')], id: 'msg_2' }),
    );
    const seen: string[] = [];
    const blocks: number[] = [];
    let words = '';
    let last: unknown;
    const stream = client.messages.stream(ask('read'));
    stream.on('streamEvent', (event) => {
      if (event.type === 'content_block_start') blocks.push(event.index);
      else if (event.type !== 'content_block_delta' && event.type !== 'content_block_stop') seen.push(event.type);
      last = event;
    });
    stream.on('text', (delta) => {
      words += delta;
    });
    stream.on('contentBlock', (block) => seen.push(block.type));
    const message = await stream.finalMessage();
    expect(seen).toEqual(['message_start', 'thinking', 'text', 'text', 'message_delta', 'message_stop']);
    expect(blocks).toEqual([0, 1, 2]);
    expect(words).toBe('Looking. Nothing there.');
    expect(message.content[0]).toEqual({ type: 'thinking', thinking: 'Let me look.', signature: 'sig-1' });
    expect(last).toMatchObject({
      type: 'message_stop',
      omniroute: { rounds: 2, executions: [{ skill: 'file_read@1.0.0', status: 'error' }] },
    });
  });

  it('gives the model its own thinking back, block for block', async () => {
    const blocks = [
      thinking('Hm.', 'sig-1'),
      redactedThinking('opaque'),
      text('Reading.'),
      toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' }),
    ];
    for (const streamed of [false, true]) {
      upstream.play(messageReply({ content: blocks }), messageReply({ content: [text('done')], id: 'msg_2' }));
      await send(streamed, ask('read', { thinking: { type: 'enabled', budget_tokens: 500 } } as Partial<Params>));
      expect(messagesOf(1)[1]).toEqual({ role: 'assistant', content: blocks });
      expect(sent(1).thinking).toEqual({ type: 'enabled', budget_tokens: 500 });
    }
  });

  it('reports rounds and executions in the body and in a header', async () => {
    upstream.play(
      messageReply({ content: [toolUse('toolu_r', 'file_read_v1_0_0', { path: 'missing.txt' })] }),
      messageReply({ content: [text('no file')] }),
    );
    const { data, response } = await client.messages.create(ask('read')).withResponse();
    const { omniroute } = data as unknown as { omniroute: JsonObject };
    expect(omniroute).toMatchObject({ rounds: 2, executions: [{ skill: 'file_read@1.0.0', status: 'error' }], usage_by_round: [{}, {}] });
    expect(JSON.parse(response.headers.get('x-omniroute-executions') ?? '')).toEqual(omniroute.executions);
  });

  it.each([false, true])('does not run arguments that do not fit or cannot be read (streamed: %s)', async (streamed) => {
    const broken = [
      messageStart(),
      blockStart(0, toolUse('toolu_a', 'file_read_v1_0_0')),
      blockDelta(0, { type: 'input_json_delta', partial_json: '{"path":' }),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ];
    const misfit = messageReply({
      content: [toolUse('toolu_a', 'file_read_v1_0_0', { path: 1 }), toolUse('toolu_b', 'file_read_v1_0_0')],
    });
    upstream.play(streamed ? sendNamedEvents(...broken) : misfit, messageReply({ content: [text('sorry')] }));
    await send(streamed, ask('read'));
    const [, assistant, answers] = messagesOf(1);
    const results = resultsOf(answers);
    expect(results.every((result) => result.is_error === true)).toBe(true);
    const errors = results.map((result) => readResult(result).error);
    expect(errors).toEqual(
      streamed
        ? [expect.stringContaining('The arguments are not valid JSON: ')]
        : [expect.stringContaining('path'), 'Missing required field: path'],
    );
    // The provider takes nothing but objects back.
    expect(objectsOf(assistant?.content).every((block) => typeof block.input === 'object')).toBe(true);
  });
});

describe('a mixed turn', () => {
  it.each([false, true])(
    'hides our part, and is restored with its thinking when the client comes back (streamed: %s)',
    async (streamed) => {
      const path = `claude-mixed-${streamed}.txt`;
      const blocks = [
        thinking('Both at once.', 'sig-1'),
        text('Both. '),
        toolUse('toolu_w', 'get_weather', OSLO),
        toolUse('toolu_f', 'file_write_v1_0_0', { path, content: 'x' }),
      ];
      upstream.play(messageReply({ content: blocks }));
      const params = ask('weather and file', { tools: [weather] });
      const first = await send(streamed, params);
      expect(first.stop_reason).toBe('tool_use');
      expect(first.content).toMatchObject([
        { type: 'thinking', thinking: 'Both at once.', signature: 'sig-1' },
        { type: 'text', text: 'Both. ' },
        { type: 'tool_use', name: 'get_weather', input: OSLO },
      ]);
      expect(first.content.find((block) => block.type === 'tool_use')?.id).not.toBe('toolu_w');

      upstream.play(messageReply({ content: [text('Rain, and written.')] }));
      const second = await send(streamed, answered(params, first, 'rain'));
      expect(second.content).toMatchObject([{ text: 'Rain, and written.' }]);
      expect(messagesOf(0)).toEqual([
        { role: 'user', content: 'weather and file' },
        { role: 'assistant', content: blocks },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_w', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'toolu_f', content: expect.stringContaining('"success":true') },
          ],
        },
      ]);
    },
  );

  it.each([false, true])('after a hidden round is restored with both rounds (streamed: %s)', async (streamed) => {
    const path = `claude-rounds-${streamed}.txt`;
    const rounds = [
      [thinking('Write first.', 'sig-1'), toolUse('toolu_f', 'file_write_v1_0_0', { path, content: 'x' })],
      [thinking('Now the weather.', 'sig-2'), text('Asking.'), toolUse('toolu_w', 'get_weather', OSLO)],
    ];
    upstream.play(...rounds.map((content, index) => messageReply({ content, id: `msg_${index}` })));
    const params = ask('file, then weather', { tools: [weather] });
    const first = await send(streamed, params);
    expect(first.content.map((block) => block.type)).toEqual(['thinking', 'thinking', 'text', 'tool_use']);

    upstream.play(messageReply({ content: [text('done')] }));
    await send(streamed, answered(params, first, 'rain'));
    expect(messagesOf(0)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: rounds[0] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_f' }] },
      { role: 'assistant', content: rounds[1] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_w', content: 'rain' }] },
    ]);
    expect(messagesOf(0).map((message) => (Array.isArray(message.content) ? message.content.length : 0))).toEqual([0, 2, 1, 3, 1]);
  });

  it('of another key is refused with 409 in the format’s shape', async () => {
    upstream.play(
      messageReply({ content: [toolUse('toolu_w', 'get_weather', OSLO), toolUse('toolu_f', 'file_read_v1_0_0', { path: 'a' })] }),
    );
    const params = ask('mixed', { tools: [weather] });
    const first = await send(false, params);
    const another = new Anthropic({ baseURL: stack.url, apiKey: await management.createKey(), maxRetries: 0 });
    const failure = await another.messages.create(answered(params, first, 'rain')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.ConflictError);
    expect(failure).toMatchObject({ status: 409, type: 'conflict_error' });
  });
});

describe('inline mode', () => {
  it.each([false, true])('runs one round, and takes its results out of an echo (streamed: %s)', async (streamed) => {
    const inline = { 'x-omniroute-skills': 'inline' };
    upstream.play(messageReply({ content: [text('Reading.'), toolUse('toolu_i', 'file_read_v1_0_0', { path: 'nothing' })] }));
    const params = ask('read');
    const reply = await send(streamed, params, inline);
    expect(reply.content).toMatchObject([
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: 'toolu_i', name: 'file_read_v1_0_0', input: { path: 'nothing' } },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_i',
        is_error: true,
        content: '{"success":false,"error":"Skill file not found: nothing"}',
      },
    ]);
    expect(upstream.requests).toHaveLength(1);

    upstream.play(messageReply({ content: [text('next')] }));
    const echo = { role: 'assistant' as const, content: reply.content as Anthropic.ContentBlockParam[] };
    await send(streamed, { ...params, messages: [...params.messages, echo, { role: 'user', content: 'and now?' }] }, inline);
    expect(messagesOf(0)).toEqual([
      { role: 'user', content: 'read' },
      { role: 'assistant', content: [{ type: 'text', text: 'Reading.' }] },
      { role: 'user', content: 'and now?' },
    ]);
  });
});

describe('a reply that is cut or paused', () => {
  it.each(['max_tokens', 'refusal', 'model_context_window_exceeded'])('does not run its calls: %s', async (stop) => {
    for (const streamed of [false, true]) {
      const session = `cut-${stop}-${streamed}`;
      const content = [text('Half'), toolUse('toolu_c', 'file_write_v1_0_0', { path: 'cut.txt', content: 'x' })];
      upstream.play(messageReply({ content, stop }));
      const reply = await send(streamed, ask('write'), { 'x-omniroute-session': session });
      expect(reply).toMatchObject({ stop_reason: stop, content: [{ type: 'text', text: 'Half' }] });
      expect(upstream.requests).toHaveLength(1);
      expect(await management.executionsOf(session)).toEqual([]);
    }
  });

  it.each([false, true])('goes on after pause_turn with what was said so far (streamed: %s)', async (streamed) => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
    upstream.play(
      messageReply({ content: [text('Searching. '), search], stop: 'pause_turn' }),
      messageReply({ content: [text('Found.')], id: 'msg_2' }),
    );
    const reply = await send(streamed, ask('search'));
    expect(reply.stop_reason).toBe('end_turn');
    expect(reply.content.map((block) => block.type)).toEqual(['text', 'server_tool_use', 'text']);
    expect(messagesOf(1)[1]).toEqual({ role: 'assistant', content: [text('Searching. '), search] });
    expect(messagesOf(1)).toHaveLength(2);
  });

  it('releases a forced tool after round 1, and forbids tools at a bound without taking them away', async () => {
    upstream.play(
      messageReply({ content: [toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' })] }),
      messageReply({ content: [text('ok')] }),
    );
    await send(false, ask('read', { tool_choice: { type: 'any', disable_parallel_tool_use: true } }));
    expect(upstream.requests.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
    ]);

    upstream.play((request, ...rest) => {
      const isLast = (request.body.tool_choice as JsonObject | undefined)?.type === 'none';
      const content = isLast ? [text('enough')] : [toolUse('toolu_1', 'file_read_v1_0_0', { path: 'same' })];
      return messageReply({ content })(request, ...rest);
    });
    const reply = await send(false, ask('read'));
    expect(reply.content).toMatchObject([{ text: 'enough' }]);
    expect(upstream.requests).toHaveLength(4);
    expect(objectsOf(sent(3).tools).length).toBeGreaterThan(0);
    expect(readResult(resultsOf(messagesOf(3).at(-1))[0]).error).toContain('3 times in a row');
  });
});

describe('failures of the provider', () => {
  it.each([false, true])('before the reply keep their status, body and retry-after (streamed: %s)', async (streamed) => {
    upstream.play(errorReply(429, 'rate_limit_error', 'slow down', { 'retry-after': '7' }));
    const failure = await send(streamed, ask('hi')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.RateLimitError);
    expect(failure).toMatchObject({ status: 429, type: 'rate_limit_error', requestID: 'req_mock' });
    expect((failure as InstanceType<typeof Anthropic.APIError>).headers?.get('retry-after')).toBe('7');
  });

  it.each([false, true])('that are no JSON get the format’s shape (streamed: %s)', async (streamed) => {
    upstream.play((_, response) => void response.writeHead(529, { 'content-type': 'text/html' }).end('<html>'));
    await expect(send(streamed, ask('hi'))).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
    upstream.play((_, response) => void response.destroy());
    await expect(send(streamed, ask('hi'))).rejects.toMatchObject({ status: 502, type: 'api_error' });
  });

  it('of the client have the format’s shape too', async () => {
    const stranger = new Anthropic({ baseURL: stack.url, apiKey: 'omr_wrong', maxRetries: 0 });
    await expect(stranger.messages.create(ask('hi'))).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(client.messages.create(ask('hi', { messages: [] }))).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
    });
  });

  it.each<[string, Parameters<MockUpstream['play']>, string]>([
    ['half a stream', [sendNamedEvents(...messageEvents({ content: [text('half')] }).slice(0, 4))], 'api_error'],
    [
      'an error event',
      [sendNamedEvents(messageStart(), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })],
      'overloaded_error',
    ],
    [
      'a refusal in round 2',
      [messageReply({ content: [toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' })] }), errorReply(500, 'api_error', 'no')],
      'api_error',
    ],
  ])('in mid-stream end it with an error event: %s', async (_, handlers, type) => {
    upstream.play(...handlers);
    const events: string[] = [];
    const stream = client.messages.stream(ask('hi'));
    stream.on('streamEvent', (event) => events.push(event.type));
    const failure = await stream.finalMessage().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.APIError);
    expect(failure).toMatchObject({ type });
    expect(events).toContain('message_start');
    expect(events).not.toContain('message_stop');
  });

  it('in a later plain round keep their status', async () => {
    upstream.play(
      messageReply({ content: [toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' })] }),
      errorReply(503, 'api_error', 'later'),
    );
    await expect(send(false, ask('hi'))).rejects.toMatchObject({ status: 503 });
  });
});

describe('a client that leaves', () => {
  it('takes the upstream call of its stream with it', async () => {
    let closed: Promise<void> = Promise.resolve();
    upstream.play((_, response, gone) => {
      closed = gone;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: message_start\ndata: ${JSON.stringify(messageStart())}\n\n`);
    });
    const stream = await client.messages.create({ ...ask('hi'), stream: true });
    for await (const _ of stream) break;
    await closed;
  });

  it('takes its running tools with it, and the row says so', async () => {
    const session = `claude-leaver-${Date.now()}`;
    await management.withSkill('eval_code', { policy: 'auto' }, async () => {
      const code = 'setTimeout(() => {}, 9000)';
      upstream.play(messageReply({ content: [text('Running. '), toolUse('toolu_1', 'eval_code_v1_0_0', { code })] }));
      const stream = client.messages.stream(ask('run'), { headers: { 'x-omniroute-session': session } });
      const ended = stream.done().catch(() => {});
      const status = async () => (await management.executionsOf(session))[0]?.status;
      await expect.poll(status, { timeout: 10_000 }).toBe('running');
      stream.abort();
      await ended;
      await expect.poll(status, { timeout: 5_000 }).toBe('error');
      expect(upstream.requests).toHaveLength(1);
    });
  });
});
