import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, sendJson, sendNamedEvents, startMockUpstream } from '../support/mock-upstream.ts';
import { functionCall, message, reasoning, refusal, responseEvents, responseReply, responseStart } from '../support/responses-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-upstream' });
  management = manageStack(stack);
  client = new OpenAI({
    baseURL: `${stack.url}/v1`,
    apiKey: stack.apiKey,
    maxRetries: 0,
    organization: 'org-client',
    project: 'proj-client',
  });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Reply = OpenAI.Responses.Response;

const ask = (input: NonNullable<Params['input']>, fields: Partial<Params> = {}): Params => ({ model: 'gpt-5-x', input, ...fields });
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const OSLO = '{"city":"Oslo"}';
const write = (path: string, content = 'x') => JSON.stringify({ path, content });

/** The answer, either plain or as the SDK's own accumulator makes it of a stream. */
const send = (streamed: boolean, params: Params, headers: Record<string, string> = {}): Promise<Reply> =>
  streamed ? client.responses.stream(params as never, { headers }).finalResponse() : client.responses.create(params, { headers });

const sent = (index: number): JsonObject => upstream.requests[index]?.body ?? {};
const inputOf = (index: number): JsonObject[] => objectsOf(sent(index).input);
const readOutput = (item: JsonObject | undefined): JsonObject => JSON.parse(String(item?.output)) as JsonObject;
const outputsOf = (index: number): JsonObject[] => inputOf(index).filter((item) => item.type === 'function_call_output');
const reportOf = (reply: Reply) => (reply as unknown as { omniroute: { rounds: number; executions: JsonObject[] } }).omniroute;
const user = (content: string) => ({ role: 'user' as const, content });

/** What a client that keeps the conversation itself sends next. */
const echo = (reply: Reply): OpenAI.Responses.ResponseInputItem[] => reply.output as OpenAI.Responses.ResponseInputItem[];
/** Answers to the calls of a reply. */
const answersTo = (reply: Reply, output: string): OpenAI.Responses.ResponseInputItem[] =>
  reply.output.flatMap((item) => (item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output }] : []));

describe('the OpenAI SDK against /v1/responses', () => {
  it('injects the skills that are on; the provider gets its own key and the client’s headers', async () => {
    upstream.play(responseReply({ output: [message('hello')] }));
    const { data, response } = await client.responses
      .create(ask('hi', { tools: [weather] }), { headers: { 'openai-beta': 'some=v1' } })
      .withResponse();
    expect(data.output_text).toBe('hello');
    const injected = response.headers.get('x-omniroute-skills-injected');
    expect(injected).toBe('eval_code@1.0.0, file_read@1.0.0, file_write@1.0.0, http_request@1.0.0, web_search@1.0.0');
    const tools = objectsOf(sent(0).tools);
    expect(tools.map((tool) => [tool.type, tool.name, tool.strict])).toEqual([
      ['function', 'eval_code_v1_0_0', false],
      ['function', 'file_read_v1_0_0', false],
      ['function', 'file_write_v1_0_0', false],
      ['function', 'http_request_v1_0_0', false],
      ['function', 'web_search_v1_0_0', false],
      ['function', 'get_weather', false],
    ]);
    // The client is told of its own tools alone.
    expect(data.tools.map((tool) => 'name' in tool && tool.name)).toEqual(['get_weather']);
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v1/responses');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer sk-upstream',
      'openai-organization': 'org-client',
      'openai-project': 'proj-client',
      'openai-beta': 'some=v1',
    });
    expect(JSON.stringify(request)).not.toContain(stack.apiKey);
  });

  it.each([false, true])('runs owned calls and returns one answer (streamed: %s)', async (streamed) => {
    const path = `gpt-${streamed}.txt`;
    upstream.play(
      responseReply({
        output: [message('Writing. ', 'msg_1'), functionCall('call_1', 'file_write_v1_0_0', write(path, 'forty-two'))],
        id: 'resp_1',
      }),
      responseReply({
        output: [
          functionCall('call_2', 'file_read_v1_0_0', JSON.stringify({ path })),
          functionCall('call_3', 'file_read_v1_0_0', '{"path":"nowhere"}'),
        ],
        id: 'resp_2',
      }),
      responseReply({ output: [message('It says forty-two.', 'msg_3')], id: 'resp_3' }),
    );
    const reply = await send(streamed, ask('write and read', { store: false }));
    expect(reply).toMatchObject({
      id: 'resp_3',
      status: 'completed',
      output: [
        { type: 'message', id: 'msg_1' },
        { type: 'message', id: 'msg_3' },
      ],
      output_text: 'Writing. It says forty-two.',
      usage: { input_tokens: 30, input_tokens_details: { cached_tokens: 6 }, output_tokens: 15, total_tokens: 45 },
    });
    expect(inputOf(2).map((item) => [item.type, item.call_id])).toEqual([
      ['message', undefined],
      ['message', undefined],
      ['function_call', 'call_1'],
      ['function_call_output', 'call_1'],
      ['function_call', 'call_2'],
      ['function_call', 'call_3'],
      ['function_call_output', 'call_2'],
      ['function_call_output', 'call_3'],
    ]);
    expect(outputsOf(2).map(readOutput)).toEqual([
      { success: true, path, bytesWritten: 9 },
      { success: true, path, content: 'forty-two', bytesRead: 9, encoding: 'utf8' },
      { success: false, error: 'Skill file not found: nowhere' },
    ]);
    expect(reportOf(reply)).toMatchObject({ rounds: 3, executions: [{ status: 'success' }, { status: 'success' }, { status: 'error' }] });
  });

  it('streams one response whose events are numbered without gaps', async () => {
    upstream.play(
      responseReply({
        output: [reasoning('rs_1'), message('Looking. ', 'msg_1'), functionCall('call_1', 'file_read_v1_0_0', '{"path":"a"}')],
        id: 'resp_1',
      }),
      responseReply({ output: [message('Nothing there.', 'msg_2')], id: 'resp_2' }),
    );
    const types: string[] = [];
    const numbers: number[] = [];
    const indices = new Set<number>();
    let words = '';
    const stream = client.responses.stream({ model: 'gpt-5-x', input: 'read' });
    stream.on('event', (event) => {
      types.push(event.type);
      numbers.push(event.sequence_number);
      if ('output_index' in event) indices.add(event.output_index);
    });
    stream.on('response.output_text.delta', ({ delta }) => {
      words += delta;
    });
    const reply = await stream.finalResponse();
    expect(types.filter((type) => /^response\.[a-z_]+$/.test(type))).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
    expect(numbers).toEqual(numbers.map((_, position) => position));
    expect([...indices]).toEqual([0, 1, 2]);
    expect(types.some((type) => type.includes('function_call'))).toBe(false);
    expect(words).toBe('Looking. Nothing there.');
    expect(reply.output.map((item) => item.type)).toEqual(['reasoning', 'message', 'message']);
    expect(reply.id).toBe('resp_2');
  });

  it.each([false, true])('does not run arguments that do not fit or cannot be read (streamed: %s)', async (streamed) => {
    upstream.play(
      responseReply({
        output: [
          functionCall('a', 'file_read_v1_0_0', '{"path":'),
          functionCall('b', 'file_read_v1_0_0', ''),
          functionCall('c', 'file_write_v1_0_0', '{"path":"x","content":1}'),
        ],
      }),
      responseReply({ output: [message('sorry')] }),
    );
    const reply = await send(streamed, ask('read'));
    expect(outputsOf(1).map((item) => readOutput(item).error)).toEqual([
      expect.stringContaining('The arguments are not valid JSON: '),
      'Missing required field: path',
      expect.stringContaining('content'),
    ]);
    expect(reportOf(reply).executions).toEqual([]);
  });

  it('runs the calls inside of a parallel wrapper that the model made up', async () => {
    const uses = ['p1.txt', 'p2.txt'].map((path) => ({
      recipient_name: 'functions.file_write_v1_0_0',
      parameters: { path, content: 'x' },
    }));
    upstream.play(
      responseReply({ output: [functionCall('call_p', 'multi_tool_use.parallel', JSON.stringify({ tool_uses: uses }))] }),
      responseReply({ output: [message('both')] }),
    );
    const reply = await send(false, ask('write two'));
    expect(reportOf(reply).executions.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(outputsOf(1).map((item) => item.call_id)).toEqual(['call_p']);
  });
});

describe('who keeps the conversation', () => {
  const rounds = () => [
    responseReply({ output: [reasoning('rs_1', 'secret-1'), functionCall('call_1', 'file_read_v1_0_0', '{"path":"a"}')], id: 'resp_1' }),
    responseReply({ output: [message('done', 'msg_2')], id: 'resp_2' }),
  ];

  it.each([false, true])('the provider: later rounds continue its reply and send results alone (streamed: %s)', async (streamed) => {
    upstream.play(...rounds());
    const reply = await send(streamed, ask('read', { previous_response_id: 'resp_0' }));
    expect(sent(0)).toMatchObject({ previous_response_id: 'resp_0', input: 'read' });
    expect(sent(1).previous_response_id).toBe('resp_1');
    expect(inputOf(1)).toMatchObject([{ type: 'function_call_output', call_id: 'call_1' }]);
    expect(inputOf(1)).toHaveLength(1);
    expect(reply).toMatchObject({ id: 'resp_2', previous_response_id: 'resp_0' });
  });

  it.each([false, true])(
    'the client (store: false): later rounds carry everything, reasoning encrypted (streamed: %s)',
    async (streamed) => {
      upstream.play(...rounds());
      const reply = await send(streamed, ask('read', { store: false }));
      expect(sent(0)).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
      expect(sent(1)).not.toHaveProperty('previous_response_id');
      expect(inputOf(1)).toMatchObject([
        { role: 'user', content: 'read' },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'secret-1' },
        { type: 'function_call', call_id: 'call_1' },
        { type: 'function_call_output', call_id: 'call_1' },
      ]);

      // Reasoning whose call is hidden may not come back without it.
      upstream.play(responseReply({ output: [message('next')] }));
      await send(streamed, ask([user('read'), ...echo(reply), user('and now?')], { store: false }));
      expect(inputOf(0)).toMatchObject([{ content: 'read' }, { type: 'message', id: 'msg_2' }, { content: 'and now?' }]);
    },
  );
});

describe('a mixed turn', () => {
  const items = (path: string) => [
    reasoning('rs_1', 'secret-1'),
    message('Both. ', 'msg_1'),
    functionCall('call_w', 'get_weather', OSLO),
    functionCall('call_f', 'file_write_v1_0_0', write(path)),
  ];

  it.each([false, true])('hides our part, and is restored when the client sends its items back (streamed: %s)', async (streamed) => {
    const path = `gpt-mixed-${streamed}.txt`;
    upstream.play(responseReply({ output: items(path), id: 'resp_1' }));
    const params = ask([user('weather and file')], { tools: [weather], store: false });
    const first = await send(streamed, params);
    expect(first.output).toMatchObject([
      { type: 'reasoning', encrypted_content: 'secret-1' },
      { type: 'message' },
      { type: 'function_call', name: 'get_weather', arguments: OSLO },
    ]);
    expect(first.output).toHaveLength(3);
    expect(answersTo(first, '')[0]).not.toMatchObject({ call_id: 'call_w' });

    upstream.play(responseReply({ output: [message('Rain, and written.')], id: 'resp_2' }));
    const second = await send(streamed, { ...params, input: [user('weather and file'), ...echo(first), ...answersTo(first, 'rain')] });
    expect(second.output_text).toBe('Rain, and written.');
    expect(inputOf(0)).toEqual([
      user('weather and file'),
      ...items(path),
      { type: 'function_call_output', call_id: 'call_w', output: 'rain' },
      { type: 'function_call_output', call_id: 'call_f', output: expect.stringContaining('"success":true') },
    ]);
  });

  it.each([false, true])('is completed when the client names the reply that the provider keeps (streamed: %s)', async (streamed) => {
    upstream.play(responseReply({ output: items(`gpt-kept-${streamed}.txt`), id: 'resp_1' }));
    const params = ask('weather and file', { tools: [weather] });
    const first = await send(streamed, params);
    upstream.play(responseReply({ output: [message('done')], id: 'resp_2' }));
    await send(streamed, { ...params, input: answersTo(first, 'rain'), previous_response_id: first.id });
    expect(sent(0)).toMatchObject({ previous_response_id: 'resp_1' });
    expect(inputOf(0)).toEqual([
      { type: 'function_call_output', call_id: 'call_w', output: 'rain' },
      { type: 'function_call_output', call_id: 'call_f', output: expect.stringContaining('"success":true') },
    ]);
  });

  it.each([false, true])('after a hidden round is restored with both rounds (streamed: %s)', async (streamed) => {
    const rounds = [
      [reasoning('rs_1', 'secret-1'), functionCall('call_f', 'file_write_v1_0_0', write(`gpt-rounds-${streamed}.txt`))],
      [reasoning('rs_2', 'secret-2'), functionCall('call_w', 'get_weather', OSLO)],
    ];
    upstream.play(...rounds.map((output, index) => responseReply({ output, id: `resp_${index}` })));
    const params = ask([user('file, then weather')], { tools: [weather], store: false });
    const first = await send(streamed, params);
    expect(first.output.map((item) => item.type)).toEqual(['reasoning', 'reasoning', 'function_call']);
    upstream.play(responseReply({ output: [message('done')] }));
    await send(streamed, { ...params, input: [user('file, then weather'), ...echo(first), ...answersTo(first, 'rain')] });
    expect(inputOf(0)).toEqual([
      user('file, then weather'),
      ...(rounds[0] as JsonObject[]),
      expect.objectContaining({ type: 'function_call_output', call_id: 'call_f' }),
      ...(rounds[1] as JsonObject[]),
      { type: 'function_call_output', call_id: 'call_w', output: 'rain' },
    ]);
  });

  it('of another key is refused with 409', async () => {
    upstream.play(responseReply({ output: items('gpt-other.txt') }));
    const params = ask([user('mixed')], { tools: [weather], store: false });
    const first = await send(false, params);
    const another = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: await management.createKey(), maxRetries: 0 });
    const back = another.responses.create({ ...params, input: [user('mixed'), ...echo(first), ...answersTo(first, 'rain')] });
    await expect(back).rejects.toMatchObject({ status: 409, code: 'unknown_suspended_turn' });
  });
});

describe('inline mode', () => {
  it.each([false, true])('runs one round, and takes its results out of an echo (streamed: %s)', async (streamed) => {
    const inline = { 'x-omniroute-skills': 'inline' };
    upstream.play(
      responseReply({ output: [message('Reading.', 'msg_1'), functionCall('call_i', 'file_read_v1_0_0', '{"path":"nothing"}')] }),
    );
    const reply = await send(streamed, ask('read', { store: false }), inline);
    expect(reply.output).toMatchObject([
      { type: 'message' },
      { type: 'function_call', call_id: 'call_i' },
      { type: 'function_call_output', call_id: 'call_i', output: '{"success":false,"error":"Skill file not found: nothing"}' },
    ]);
    expect(upstream.requests).toHaveLength(1);

    upstream.play(responseReply({ output: [message('next')] }));
    await send(streamed, ask([user('read'), ...echo(reply), user('and now?')], { store: false }), inline);
    expect(inputOf(0)).toMatchObject([{ content: 'read' }, { type: 'message', id: 'msg_1' }, { content: 'and now?' }]);
    expect(inputOf(0)).toHaveLength(3);
  });
});

describe('a reply that is cut', () => {
  const call = () => functionCall('call_c', 'file_write_v1_0_0', write('cut.txt'), { status: 'incomplete' });

  it.each<[string, JsonObject[], JsonObject]>([
    ['max_output_tokens', [message('Half'), call()], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['content_filter', [message('Half'), call()], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['a refusal', [refusal('No.'), functionCall('call_c', 'file_write_v1_0_0', write('cut.txt'))], {}],
  ])('does not run its calls: %s', async (name, output, fields) => {
    for (const streamed of [false, true]) {
      const session = `gpt-cut-${name.replaceAll(' ', '-')}-${streamed}`;
      upstream.play(responseReply({ output, fields }));
      const reply = await send(streamed, ask('write'), { 'x-omniroute-session': session });
      expect(reply).toMatchObject({ status: 'completed', ...fields, output: [{ type: 'message' }] });
      expect(reply.output).toHaveLength(1);
      expect(upstream.requests).toHaveLength(1);
      expect(await management.executionsOf(session)).toEqual([]);
    }
  });

  it('releases a forced tool after round 1, and forbids tools at a bound without taking them away', async () => {
    upstream.play(
      responseReply({ output: [functionCall('call_1', 'file_read_v1_0_0', '{"path":"a"}')] }),
      responseReply({ output: [message('ok')] }),
    );
    const reply = await send(false, ask('read', { tool_choice: 'required' }));
    expect(upstream.requests.map(({ body }) => body.tool_choice)).toEqual(['required', 'auto']);
    expect(reply.tool_choice).toBe('required');

    upstream.play((request, ...rest) => {
      const isLast = request.body.tool_choice === 'none';
      const output = [isLast ? message('enough') : functionCall('call_1', 'file_read_v1_0_0', '{"path":"same"}')];
      return responseReply({ output, id: `resp_${upstream.requests.length}` })(request, ...rest);
    });
    expect((await send(false, ask('read'))).output_text).toBe('enough');
    expect(upstream.requests).toHaveLength(4);
    expect(objectsOf(sent(3).tools).length).toBeGreaterThan(0);
    expect(readOutput(outputsOf(3)[0]).error).toContain('3 times in a row');
  });
});

describe('failures of the provider', () => {
  const round = () => responseReply({ output: [functionCall('call_1', 'file_read_v1_0_0', '{"path":"a"}')], id: 'resp_1' });

  it.each([false, true])('before the reply keep their status, body and retry-after (streamed: %s)', async (streamed) => {
    upstream.play(sendJson({ error: { message: 'slow down', type: 'tokens', code: 'rate_limit_exceeded' } }, 429, { 'retry-after': '7' }));
    const failure = await send(streamed, ask('hi')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect((failure as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7');
  });

  it('of the client have OpenAI’s shape', async () => {
    await expect(client.responses.create({ model: 'gpt-5-x', input: 7 as never })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
    await expect(
      client.responses.create({ model: 'gpt-5-x', input: 'hi' }, { headers: { authorization: 'Bearer no' } }),
    ).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  });

  it.each<[string, Parameters<MockUpstream['play']>, string]>([
    [
      'half a stream',
      [(request, ...rest) => sendNamedEvents(...responseEvents({ output: [message('half')] }, request.body).slice(0, 5))(request, ...rest)],
      'upstream_incomplete',
    ],
    [
      'an error event',
      [
        (request, ...rest) =>
          sendNamedEvents(responseStart({ output: [] }, request.body), {
            type: 'error',
            sequence_number: 1,
            code: 'server_is_overloaded',
            message: 'Overloaded',
            param: null,
          })(request, ...rest),
      ],
      'server_is_overloaded',
    ],
    ['an error event before anything else', [sendNamedEvents({ type: 'error', code: 'server_error', message: 'no' })], 'server_error'],
    ['a refusal in round 2', [round(), sendJson({ error: { message: 'no' } }, 500)], 'upstream_failed'],
  ])('in mid-stream end it with response.failed: %s', async (_, handlers, code) => {
    upstream.play(...handlers);
    const types: string[] = [];
    const stream = client.responses.stream({ model: 'gpt-5-x', input: 'hi' });
    stream.on('event', (event) => types.push(event.type));
    const reply = await stream.finalResponse();
    expect(reply).toMatchObject({ status: 'failed', error: { code, message: expect.any(String) } });
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.failed');
    expect(types).not.toContain('response.completed');
  });

  it('that the reply itself reports reach the client', async () => {
    for (const streamed of [false, true]) {
      const fields = { status: 'failed', error: { code: 'server_error', message: 'broken' } };
      upstream.play(responseReply({ output: [], fields }));
      expect(await send(streamed, ask('hi'))).toMatchObject(fields);
    }
  });

  it('in a later plain round keep their status', async () => {
    upstream.play(round(), sendJson({ error: { message: 'later' } }, 503));
    await expect(send(false, ask('hi'))).rejects.toMatchObject({ status: 503 });
  });
});

describe('a client that leaves', () => {
  it('takes the upstream call of its stream with it', async () => {
    let closed: Promise<void> = Promise.resolve();
    upstream.play((request, response, gone) => {
      closed = gone;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: response.created\ndata: ${JSON.stringify(responseStart({ output: [] }, request.body))}\n\n`);
    });
    const stream = await client.responses.create({ model: 'gpt-5-x', input: 'hi', stream: true });
    for await (const _ of stream) break;
    await closed;
  });

  it('takes its running tools with it, and the row says so', async () => {
    const session = `gpt-leaver-${Date.now()}`;
    await management.withSkill('eval_code', { policy: 'auto' }, async () => {
      const code = JSON.stringify({ code: 'setTimeout(() => {}, 9000)' });
      upstream.play(responseReply({ output: [message('Running. '), functionCall('call_1', 'eval_code_v1_0_0', code)] }));
      const stream = client.responses.stream({ model: 'gpt-5-x', input: 'run' }, { headers: { 'x-omniroute-session': session } });
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
