import {
  ApiError,
  type CallableTool,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type GoogleGenAI,
  type Part,
} from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { call, chunk, end, partial, signed, text, thought } from '../providers/gemini-chunks.ts';
import {
  type Answer,
  answered,
  ask,
  collect,
  generate,
  HELLO,
  MODEL,
  openClient,
  post as postTo,
  resultsOf,
  user,
  weather,
  withHeaders,
  withWeather,
} from '../support/gemini-client.ts';
import { contentReply } from '../support/gemini-replies.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, sendEvents, sendJson, startMockUpstream } from '../support/mock-upstream.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let client: GoogleGenAI;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ GEMINI_BASE_URL: upstream.url, GEMINI_API_KEY: 'AIza-upstream' });
  management = manageStack(stack);
  client = openClient(stack.url, stack.apiKey);
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const send = (streamed: boolean, params: GenerateContentParameters, by = client): Promise<Answer> => generate(by, streamed, params);
const post = (path: string, body: string, headers: Record<string, string> = { 'x-goog-api-key': stack.apiKey }): Promise<Response> =>
  postTo(`${stack.url}${path}`, body, headers);

const OSLO = { city: 'Oslo' };
const sent = (index: number): JsonObject => upstream.requests[index]?.body ?? {};
const contentsOf = (index: number): JsonObject[] => objectsOf(sent(index).contents);
const declarationsOf = (index: number): JsonObject[] =>
  objectsOf(sent(index).tools).flatMap((tool) => objectsOf(tool.functionDeclarations));
const modeOf = (index: number) =>
  ((sent(index).toolConfig as JsonObject | undefined)?.functionCallingConfig as JsonObject | undefined)?.mode;

const INJECTED = ['eval_code_v1_0_0', 'file_read_v1_0_0', 'file_write_v1_0_0', 'http_request_v1_0_0', 'web_search_v1_0_0'];

describe('the Google SDK against the gateway', () => {
  it.each([undefined, 'v1', 'v1beta', 'v1alpha'])(
    'is answered in version %s of the API, which the provider is asked in',
    async (version) => {
      const by = openClient(stack.url, stack.apiKey, version);
      for (const streamed of [false, true]) {
        upstream.play(contentReply({ parts: [text('hello')] }));
        expect((await send(streamed, ask('hi'), by)).text).toBe('hello');
        const action = streamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
        expect(upstream.requests.map(({ path }) => path)).toEqual([`/${version ?? 'v1'}/models/gemini-x:${action}`]);
      }
      upstream.play(sendJson({ totalTokens: 17 }));
      expect(await by.models.countTokens({ model: MODEL, contents: 'hi' })).toMatchObject({ totalTokens: 17 });
      expect(upstream.requests[0]?.path).toBe(`/${version ?? 'v1'}/models/gemini-x:countTokens`);
    },
  );

  it('injects the skills that are on into the client’s own entry; the provider gets its own key', async () => {
    upstream.play(contentReply({ parts: [text('hello')] }));
    const { last } = await send(false, ask('hi', { ...withWeather, ...withHeaders({ 'x-custom': 'secret' }) }));
    expect(last).toMatchObject({ responseId: 'r1', modelVersion: 'gemini-test', candidates: [{ finishReason: 'STOP' }] });
    expect(last?.sdkHttpResponse?.headers?.['x-omniroute-skills-injected']).toBe(
      'eval_code@1.0.0, file_read@1.0.0, file_write@1.0.0, http_request@1.0.0, web_search@1.0.0',
    );
    expect(objectsOf(sent(0).tools)).toHaveLength(1);
    expect(declarationsOf(0).map(({ name }) => name)).toEqual([...INJECTED, 'get_weather']);
    const [request] = upstream.requests;
    expect(request?.headers['x-goog-api-key']).toBe('AIza-upstream');
    expect(request?.headers).not.toHaveProperty('x-custom');
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(request)).not.toContain(stack.apiKey);
  });

  it.each(['x-goog-api-key', 'authorization', 'query'])('takes our key from %s and never forwards it', async (place) => {
    const headers = place === 'authorization' ? { authorization: `Bearer ${stack.apiKey}` } : { 'x-goog-api-key': stack.apiKey };
    for (const skills of [undefined, 'off']) {
      for (const action of ['generateContent', 'streamGenerateContent', 'countTokens']) {
        upstream.play(contentReply({ parts: [text('ok')] }));
        const query = place === 'query' ? `?alt=sse&key=${stack.apiKey}` : '?alt=sse';
        const response = await post(`/v1beta/models/gemini-x:${action}${query}`, HELLO, {
          ...(place === 'query' ? {} : headers),
          ...(skills && { 'x-omniroute-skills': skills }),
        });
        expect(response.status).toBe(200);
        await response.text();
        const [request] = upstream.requests;
        expect(request?.headers['x-goog-api-key']).toBe('AIza-upstream');
        expect(request?.path).not.toContain('key=');
        expect(JSON.stringify(request)).not.toContain(stack.apiKey);
      }
    }
  });

  it('counts tokens at the provider, with the bytes as they came', async () => {
    upstream.play(sendJson({ totalTokens: 17 }));
    const body = '{ "contents":[{"parts":[{"text":"h\\u00e9"}]}], "odd" : 1e0 }';
    expect(await (await post('/v1beta/models/gemini-x:countTokens', body)).json()).toEqual({ totalTokens: 17 });
    expect(upstream.requests[0]).toMatchObject({ path: '/v1beta/models/gemini-x:countTokens', text: body });
  });

  it.each([false, true])('runs owned calls and returns one answer (streamed: %s)', async (streamed) => {
    const path = `gemini-${streamed}.txt`;
    upstream.play(
      contentReply({ parts: [text('Writing. '), signed(call('file_write_v1_0_0', { path, content: 'forty-two' }), 'sig-1')], id: 'r1' }),
      contentReply({
        parts: [
          signed(call('file_read_v1_0_0', { path }, { id: 'c1' }), 'sig-2'),
          call('file_read_v1_0_0', { path: 'nowhere' }, { id: 'c2' }),
          call('file_read_v1_0_0', { path }, { id: 'c3' }),
        ],
        id: 'r2',
      }),
      contentReply({ parts: [text('It says forty-two.')], id: 'r3' }),
    );
    const answer = await send(streamed, ask('write and read'));
    expect(answer.text).toBe('Writing. It says forty-two.');
    expect(answer.calls).toEqual([]);
    expect(answer.finishes).toEqual(['STOP']);
    expect(new Set(answer.chunks.map(({ responseId }) => responseId))).toEqual(new Set(['r1']));
    expect(answer.last?.usageMetadata).toMatchObject({ promptTokenCount: 30, candidatesTokenCount: 3, totalTokenCount: 33 });
    expect(answer.last?.usageMetadata?.promptTokensDetails).toEqual([{ modality: 'TEXT', tokenCount: 30 }]);
    expect(answer.chunks.slice(0, -1).filter((each) => each.usageMetadata !== undefined)).toEqual([]);

    expect(contentsOf(2).map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user']);
    expect(objectsOf(contentsOf(2)[1]?.parts).map(({ thoughtSignature }) => thoughtSignature)).toEqual([undefined, 'sig-1']);
    expect(contentsOf(2)[2]).toEqual({
      role: 'user',
      parts: [{ functionResponse: { name: 'file_write_v1_0_0', response: { output: { success: true, path, bytesWritten: 9 } } } }],
    });
    expect(objectsOf(contentsOf(2)[3]?.parts)).toEqual([
      signed(call('file_read_v1_0_0', { path }, { id: 'c1' }), 'sig-2'),
      call('file_read_v1_0_0', { path: 'nowhere' }, { id: 'c2' }),
      call('file_read_v1_0_0', { path }, { id: 'c3' }),
    ]);
    const read = { success: true, path, content: 'forty-two', bytesRead: 9, encoding: 'utf8' };
    expect(resultsOf(contentsOf(2)[4])).toEqual([
      { id: 'c1', name: 'file_read_v1_0_0', response: { output: read } },
      { id: 'c2', name: 'file_read_v1_0_0', response: { error: { success: false, error: 'Skill file not found: nowhere' } } },
      { id: 'c3', name: 'file_read_v1_0_0', response: { output: read } },
    ]);
  });

  it.each(['v1', 'v1beta'])('writes a stream without alt=sse as one JSON array (%s)', async (version) => {
    upstream.play(
      contentReply({ parts: [text('Looking. '), call('file_read_v1_0_0', { path: 'a' })] }),
      contentReply({ parts: [text('Nothing there.')], id: 'r2' }),
    );
    const response = await post(`/${version}/models/gemini-x:streamGenerateContent`, HELLO);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const chunks = (await response.json()) as GenerateContentResponse[];
    const parts = chunks.flatMap((each) => each.candidates?.[0]?.content?.parts ?? []);
    expect(parts.map((part) => part.text).join('')).toBe('Looking. Nothing there.');
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 20 } });
    expect(upstream.requests.map(({ path }) => path)).toEqual(Array(2).fill(`/${version}/models/gemini-x:streamGenerateContent?alt=sse`));
  });

  it('runs calls whose arguments are streamed in pieces', async () => {
    upstream.play(
      sendEvents(
        chunk([{ functionCall: { name: 'file_write_v1_0_0', willContinue: true } }]),
        chunk([partial('$.path', { stringValue: 'pieces.txt' })]),
        chunk([partial('$.content', { stringValue: 'for', willContinue: true })]),
        chunk([partial('$.content', { stringValue: 'ty' })]),
        chunk([{ functionCall: {} }]),
        end(),
      ),
      contentReply({ parts: [text('done')], id: 'r2' }),
    );
    const answer = await send(true, ask('write'));
    expect([answer.text, answer.calls]).toEqual(['done', []]);
    expect(contentsOf(1)[1]).toMatchObject({
      parts: [{ functionCall: { name: 'file_write_v1_0_0', args: { path: 'pieces.txt', content: 'forty' } } }],
    });
    expect(resultsOf(contentsOf(1)[2])).toMatchObject([{ response: { output: { success: true, bytesWritten: 5 } } }]);
  });

  it('gives the model its thoughts back and shows them to the client', async () => {
    const parts = [thought('Hm.'), signed(call('file_read_v1_0_0', { path: 'a' }), 'sig-1')];
    for (const streamed of [false, true]) {
      upstream.play(contentReply({ parts }), contentReply({ parts: [signed(text('done'), 'sig-2')], id: 'r2' }));
      const answer = await send(streamed, ask('read', { thinkingConfig: { includeThoughts: true } }));
      expect(answer.parts.filter((part) => part.text !== '')).toEqual([
        { text: 'Hm.', thought: true },
        { text: 'done', thoughtSignature: 'sig-2' },
      ]);
      expect(contentsOf(1)[1]).toEqual({ role: 'model', parts });
    }
  });

  it('reports rounds and executions in the body and in a header', async () => {
    upstream.play(contentReply({ parts: [call('file_read_v1_0_0', { path: 'missing.txt' })] }), contentReply({ parts: [text('no file')] }));
    const response = await post('/v1beta/models/gemini-x:generateContent', HELLO);
    const { omniroute } = (await response.json()) as { omniroute: JsonObject };
    expect(omniroute).toMatchObject({ rounds: 2, executions: [{ skill: 'file_read@1.0.0', status: 'error' }], usage_by_round: [{}, {}] });
    expect(JSON.parse(response.headers.get('x-omniroute-executions') ?? '')).toEqual(omniroute.executions);

    upstream.play(contentReply({ parts: [call('file_read_v1_0_0', { path: 'missing.txt' })] }), contentReply({ parts: [text('no file')] }));
    const streamed = await (await post('/v1beta/models/gemini-x:streamGenerateContent', HELLO)).json();
    expect(objectsOf(streamed).at(-1)?.omniroute).toMatchObject({ rounds: 2, executions: [{ skill: 'file_read@1.0.0' }] });
  });

  it.each([false, true])('does not run arguments that do not fit (streamed: %s)', async (streamed) => {
    const session = `gemini-misfit-${streamed}`;
    upstream.play(
      contentReply({
        parts: [call('file_read_v1_0_0', { path: 1 }), call('file_read_v1_0_0'), call('file_read_v1_0_0', [])],
      }),
      contentReply({ parts: [text('sorry')] }),
    );
    expect((await send(streamed, ask('read', withHeaders({ 'x-omniroute-session': session })))).text).toBe('sorry');
    const errors = resultsOf(contentsOf(1)[2]).map(({ response }) => ((response as JsonObject).error as JsonObject).error);
    expect(errors).toEqual([expect.stringContaining('path'), 'Missing required field: path', 'The arguments are not a JSON object']);
    expect(await management.executionsOf(session)).toEqual([]);
  });

  it('runs code in a container', async () => {
    await management.withSkill('eval_code', { policy: 'auto' }, async () => {
      upstream.play(
        contentReply({ parts: [call('eval_code_v1_0_0', { code: 'console.log(6*7)' })] }),
        contentReply({ parts: [text('42')] }),
      );
      expect((await send(true, ask('compute'))).text).toBe('42');
      expect(resultsOf(contentsOf(1)[2])).toMatchObject([{ response: { output: { success: true, stdout: '42\n', exitCode: 0 } } }]);
    });
  });
});

describe('a mixed turn', () => {
  const parts = (path: string) => [
    text('Both. '),
    signed(call('file_write_v1_0_0', { path, content: 'x' }), 'sig-1'),
    call('get_weather', OSLO),
  ];

  it.each([false, true])('hides our part, and is restored when the client comes back (streamed: %s)', async (streamed) => {
    const path = `gemini-mixed-${streamed}.txt`;
    upstream.play(contentReply({ parts: parts(path) }));
    const params = ask('weather and file', withWeather);
    const first = await send(streamed, params);
    expect(first.text).toBe('Both. ');
    expect(first.calls).toEqual([{ id: expect.any(String), name: 'get_weather', args: OSLO }]);
    // The signature was with our call, and the first call that a client gives back has to have one.
    expect(first.parts.find((part) => part.functionCall)?.thoughtSignature).toEqual(expect.any(String));

    upstream.play(contentReply({ parts: [text('Rain, and written.')] }));
    const back = await send(streamed, answered(params, first, 'rain'));
    expect(back.text).toBe('Rain, and written.');
    expect(contentsOf(0)).toEqual([
      user('weather and file'),
      { role: 'model', parts: parts(path) },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'file_write_v1_0_0', response: { output: { success: true, path, bytesWritten: 1 } } } },
          { functionResponse: { name: 'get_weather', response: { output: 'rain' } } },
        ],
      },
    ]);
  });

  it.each([false, true])('of the client alone keeps its history right (streamed: %s)', async (streamed) => {
    upstream.play(contentReply({ parts: [signed(call('get_weather', OSLO), 'sig-1'), call('get_weather', { city: 'Rome' })] }));
    const params = ask('weather', withWeather);
    const first = await send(streamed, params);
    expect(first.calls.map(({ args }) => args)).toEqual([OSLO, { city: 'Rome' }]);
    upstream.play(contentReply({ parts: [text('rain')] }));
    await send(streamed, answered(params, first, 'rain'));
    expect(objectsOf(contentsOf(0)[1]?.parts).filter((part) => part.text !== '')).toEqual([
      signed(call('get_weather', OSLO), 'sig-1'),
      call('get_weather', { city: 'Rome' }),
    ]);
    expect(resultsOf(contentsOf(0)[2])).toEqual(Array(2).fill({ name: 'get_weather', response: { output: 'rain' } }));
  });

  it('of another key is refused with 409 in the format’s shape', async () => {
    upstream.play(contentReply({ parts: parts('gemini-foreign.txt') }));
    const params = ask('mixed', withWeather);
    const back = answered(params, await send(false, params), 'rain');
    const another = openClient(stack.url, await management.createKey());
    for (const streamed of [false, true]) {
      const failure = await send(streamed, back, another).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({ status: 409, message: expect.stringContaining('"reason":"UNKNOWN_SUSPENDED_TURN"') });
    }
  });
});

describe('chats of the SDK', () => {
  it.each([false, true])('keep a history that the gateway completes (streamed: %s)', async (streamed) => {
    const chat = client.chats.create({ model: MODEL, config: withWeather });
    const say = async (message: string | Part[]): Promise<GenerateContentResponse[]> =>
      streamed ? collect(await chat.sendMessageStream({ message })) : [await chat.sendMessage({ message })];
    const path = `gemini-chat-${streamed}.txt`;
    const write = signed(call('file_write_v1_0_0', { path, content: 'x' }), 'sig-1');
    const asking = signed(call('get_weather', OSLO), 'sig-2');
    upstream.play(contentReply({ parts: [write], id: 'r1' }), contentReply({ parts: [text('Asking. '), asking], id: 'r2' }));
    const [called] = (await say('write, then weather')).flatMap((each) => each.functionCalls ?? []);
    expect(called).toMatchObject({ name: 'get_weather', args: OSLO });

    upstream.play(contentReply({ parts: [text('It rains.')], id: 'r3' }));
    await say([{ functionResponse: { ...(called?.id && { id: called.id }), name: 'get_weather', response: { output: 'rain' } } }]);
    const whole = [
      user('write, then weather'),
      { role: 'model', parts: [write] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'file_write_v1_0_0', response: { output: { success: true, path, bytesWritten: 1 } } } }],
      },
      { role: 'model', parts: [text('Asking. '), asking] },
      { role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { output: 'rain' } } }] },
    ];
    expect(contentsOf(0)).toEqual(whole);

    upstream.play(contentReply({ parts: [text('You are welcome.')], id: 'r4' }));
    await say('thanks');
    expect(contentsOf(0).slice(0, 5)).toEqual(whole);
    expect(contentsOf(0).at(-1)).toEqual(user('thanks'));
  });
});

describe('automatic function calling of the SDK', () => {
  /** A tool that the SDK runs by itself. */
  const weatherTool = (cities: string[]): CallableTool => ({
    tool: async () => ({ functionDeclarations: [weather] }),
    callTool: async (calls) =>
      calls.map(({ id, name, args }) => {
        cities.push(String(args?.city));
        return {
          functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: `rain in ${String(args?.city)}` } },
        };
      }),
  });

  it.each([false, true])('answers its own calls while the gateway answers ours (streamed: %s)', async (streamed) => {
    const path = `gemini-afc-${streamed}.txt`;
    const turns = [
      [signed(call('get_weather', OSLO), 'sig-1'), call('file_write_v1_0_0', { path, content: 'x' })],
      [signed(call('file_read_v1_0_0', { path }), 'sig-2')],
      [text('And Bergen. '), signed(call('get_weather', { city: 'Bergen' }), 'sig-3')],
    ];
    upstream.play(...turns.map((parts, index) => contentReply({ parts, id: `r${index}` })), contentReply({ parts: [text('Rain twice.')] }));
    const cities: string[] = [];
    const answer = await send(streamed, ask('weather and file', { tools: [weatherTool(cities)] }));
    expect(cities).toEqual(['Oslo', 'Bergen']);
    expect(answer.text).toBe(streamed ? 'And Bergen. Rain twice.' : 'Rain twice.');
    expect(upstream.requests).toHaveLength(4);
    expect(contentsOf(3).map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user', 'model', 'user']);
    expect([1, 3, 5].map((index) => contentsOf(3)[index]?.parts)).toEqual(turns);
    expect([2, 4, 6].flatMap((index) => resultsOf(contentsOf(3)[index]))).toEqual([
      { name: 'get_weather', response: { output: 'rain in Oslo' } },
      { name: 'file_write_v1_0_0', response: { output: { success: true, path, bytesWritten: 1 } } },
      { name: 'file_read_v1_0_0', response: { output: { success: true, path, content: 'x', bytesRead: 1, encoding: 'utf8' } } },
      { name: 'get_weather', response: { output: 'rain in Bergen' } },
    ]);
  });
});

describe('inline mode', () => {
  it.each([false, true])('runs one round, and takes its results out of an echo (streamed: %s)', async (streamed) => {
    const config = withHeaders({ 'x-omniroute-skills': 'inline' });
    upstream.play(contentReply({ parts: [text('Reading.'), signed(call('file_read_v1_0_0', { path: 'nothing' }), 'sig-1')] }));
    const params = ask('read', config);
    const answer = await send(streamed, params);
    expect(answer.text).toBe('Reading.');
    expect(answer.parts.filter((part) => part.functionCall ?? part.functionResponse)).toEqual([
      { functionCall: { name: 'file_read_v1_0_0', args: { path: 'nothing' } }, thoughtSignature: 'sig-1' },
      {
        functionResponse: {
          name: 'file_read_v1_0_0',
          response: { error: { success: false, error: 'Skill file not found: nothing' } },
        },
      },
    ]);
    expect(upstream.requests).toHaveLength(1);

    upstream.play(contentReply({ parts: [text('next')] }));
    const echo = { role: 'model', parts: answer.parts };
    await send(streamed, {
      ...params,
      contents: [...(params.contents as Content[]), echo, { role: 'user', parts: [{ text: 'and now?' }] }],
    });
    const [asked, model, next] = contentsOf(0);
    expect([asked, next]).toEqual([user('read'), user('and now?')]);
    expect(
      objectsOf(model?.parts)
        .map((part) => part.text)
        .join(''),
    ).toBe('Reading.');
    expect(objectsOf(model?.parts).every((part) => 'text' in part)).toBe(true);
    expect(contentsOf(0)).toHaveLength(3);
  });
});

describe('a reply that is cut', () => {
  it.each(['MAX_TOKENS', 'SAFETY', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])('does not run its calls: %s', async (finish) => {
    for (const streamed of [false, true]) {
      const session = `gemini-cut-${finish}-${streamed}`;
      upstream.play(contentReply({ parts: [text('Half'), call('file_write_v1_0_0', { path: 'cut.txt', content: 'x' })], finish }));
      const answer = await send(streamed, ask('write', withHeaders({ 'x-omniroute-session': session })));
      expect(answer).toMatchObject({ text: 'Half', calls: [], finishes: [finish] });
      expect(upstream.requests).toHaveLength(1);
      expect(await management.executionsOf(session)).toEqual([]);
    }
  });

  it.each([false, true])('before it said anything keeps its reason (streamed: %s)', async (streamed) => {
    const safety = {
      candidates: [{ finishReason: 'SAFETY', index: 0, safetyRatings: [{ category: 'HARM', probability: 'HIGH', blocked: true }] }],
    };
    upstream.play(streamed ? sendEvents(safety) : sendJson(safety));
    const cut = await send(streamed, ask('hi'));
    expect(cut.finishes).toEqual(['SAFETY']);
    expect(cut.last?.candidates?.[0]?.safetyRatings).toMatchObject([{ blocked: true }]);
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } };
    upstream.play(streamed ? sendEvents(blocked) : sendJson(blocked));
    const refused = await send(streamed, ask('hi'));
    expect(refused.last?.promptFeedback).toEqual({ blockReason: 'PROHIBITED_CONTENT' });
    expect(refused.finishes).toEqual([]);
  });
});

describe('the calling mode', () => {
  it('is released after round 1 when it forced a call, and forbids tools at a bound', async () => {
    const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['file_read_v1_0_0'] };
    upstream.play(contentReply({ parts: [call('file_read_v1_0_0', { path: 'a' })] }), contentReply({ parts: [text('ok')] }));
    await send(false, ask('read', { ...withWeather, toolConfig: { functionCallingConfig } }));
    expect([modeOf(0), modeOf(1)]).toEqual(['ANY', 'AUTO']);
    expect(JSON.stringify(sent(1).toolConfig)).not.toContain('allowedFunctionNames');

    upstream.play((request, ...rest) => {
      const isLast = JSON.stringify(request.body.toolConfig ?? {}).includes('NONE');
      const parts = isLast ? [text('enough')] : [call('file_read_v1_0_0', { path: 'same' })];
      return contentReply({ parts })(request, ...rest);
    });
    expect((await send(true, ask('read'))).text).toBe('enough');
    expect(upstream.requests).toHaveLength(4);
    expect(declarationsOf(3).length).toBeGreaterThan(0);
    expect(JSON.stringify(resultsOf(contentsOf(3).at(-1)))).toContain('3 times in a row');
  });

  it.each<[string, GenerateContentParameters['config']]>([
    ['NONE', { ...withWeather, toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.NONE } } }],
    ['two candidates', { ...withWeather, candidateCount: 2 }],
    ['cached content', { cachedContent: 'cachedContents/x' }],
    ['an answer by schema', { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } }],
    ['search by Google', { tools: [{ googleSearch: {} }] }],
  ])('injects nothing with %s', async (_, config) => {
    upstream.play(contentReply({ parts: [text('{}')] }));
    await send(false, ask('hi', config));
    expect(JSON.stringify(sent(0))).not.toContain('eval_code');
  });
});

describe('a hybrid skill', () => {
  it.each([false, true])('is parked, approved in-band and run once (streamed: %s)', async (streamed) => {
    const compute = contentReply({ parts: [signed(call('eval_code_v1_0_0', { code: `console.log(${streamed ? 5 : 4}+1)` }), 'sig-1')] });
    const session = `gemini-hybrid-${streamed}`;
    const inSession = { 'x-omniroute-session': session };
    upstream.play(compute, contentReply({ parts: [text('Please approve.')] }));
    expect((await send(streamed, ask('compute', withHeaders(inSession)))).text).toBe('Please approve.');
    const [parked] = resultsOf(contentsOf(1)[2]);
    const { output } = (parked?.response ?? {}) as { output: JsonObject };
    expect(output).toMatchObject({ success: false, approvalRequired: true, error: expect.stringContaining('NOT run') });
    expect(await management.executionsOf(session)).toMatchObject([{ status: 'pending' }]);

    const approve = { ...inSession, 'x-omniroute-approve': String(output.approvalId) };
    upstream.play(compute, contentReply({ parts: [text('done')] }));
    expect((await send(streamed, ask('compute', withHeaders(approve)))).text).toBe('done');
    expect(resultsOf(contentsOf(1)[2])).toMatchObject([{ response: { output: { success: true, stdout: `${streamed ? 6 : 5}\n` } } }]);

    upstream.play(compute, contentReply({ parts: [text('again?')] }));
    await send(streamed, ask('compute', withHeaders(inSession)));
    expect(JSON.stringify(resultsOf(contentsOf(1)[2]))).toContain('NOT run');
  });
});
