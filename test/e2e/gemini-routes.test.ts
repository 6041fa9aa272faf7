import { ApiError, type GenerateContentParameters, type GenerateContentResponse, type GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectsOf } from '../../src/json.ts';
import { call, chunk, text } from '../providers/gemini-chunks.ts';
import { type Answer, ask, collect, generate, HELLO, openClient, post as postTo, withHeaders } from '../support/gemini-client.ts';
import { contentChunks, contentReply, errorReply } from '../support/gemini-replies.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, sendEvents, sendJson, startMockUpstream } from '../support/mock-upstream.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let second: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let client: GoogleGenAI;

beforeAll(async () => {
  [upstream, second] = await Promise.all([startMockUpstream(), startMockUpstream()]);
  stack = await startTestStack({
    GEMINI_BASE_URL: upstream.url,
    GEMINI_API_KEY: 'AIza-upstream',
    SECOND_KEY: 'AIza-second',
    PROVIDERS: JSON.stringify([
      { name: 'second', format: 'gemini', baseUrl: second.url, apiKeySecret: 'SECOND_KEY', models: ['gemma-*', 'learnlm'] },
    ]),
  });
  management = manageStack(stack);
  client = openClient(stack.url, stack.apiKey);
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([upstream?.close(), second?.close()]);
});

const send = (streamed: boolean, params: GenerateContentParameters, by = client): Promise<Answer> => generate(by, streamed, params);
const post = (path: string, body: string, headers: Record<string, string> = { 'x-goog-api-key': stack.apiKey }): Promise<Response> =>
  postTo(`${stack.url}${path}`, body, headers);

describe('failures of the provider', () => {
  it.each([false, true])('before the reply keep their status, body and retry-after (streamed: %s)', async (streamed) => {
    const refusal = errorReply(429, 'RESOURCE_EXHAUSTED', 'slow down', { 'retry-after': '7' });
    upstream.play(refusal);
    const failure = await send(streamed, ask('hi')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status: 429, message: '{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}' });
    upstream.play(refusal);
    const response = await post(`/v1beta/models/gemini-x:${streamed ? 'streamGenerateContent' : 'generateContent'}`, HELLO);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    await response.text();
  });

  it.each([false, true])('that are no JSON get the format’s shape (streamed: %s)', async (streamed) => {
    upstream.play((_, response) => void response.writeHead(503, { 'content-type': 'text/html' }).end('<html>'));
    await expect(send(streamed, ask('hi'))).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('"status":"UNAVAILABLE"'),
    });
    upstream.play((_, response) => void response.destroy());
    await expect(send(streamed, ask('hi'))).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('"reason":"UPSTREAM_UNREACHABLE"'),
    });
  });

  it('of the client have the format’s shape too', async () => {
    const stranger = openClient(stack.url, 'omr_wrong');
    await expect(send(false, ask('hi'), stranger)).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('UNAUTHENTICATED'),
    });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, message: expect.stringContaining('UNAUTHENTICATED') });
    const bad: [string, string, number, string][] = [
      ['/v1beta/models/gemini-x:generateContent', '{', 400, 'INVALID_JSON'],
      ['/v1/models/gemini-x:generateContent', '{"contents":[]}', 400, 'INVALID_REQUEST'],
      ['/v1beta/models/gemini-x:streamGenerateContent', '{"contents":"hi"}', 400, 'INVALID_REQUEST'],
      ['/v1beta/models/gemini-x:embedContent', HELLO, 404, 'NOT_FOUND'],
      ['/v1/models/gemini-x', HELLO, 404, 'NOT_FOUND'],
      ['/v1beta/models/%E0%A4%A:generateContent', HELLO, 400, 'INVALID_REQUEST'],
    ];
    upstream.play();
    for (const [path, body, status, reason] of bad) {
      const response = await post(path, body);
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        status,
        { error: { code: status, details: [{ reason }] } },
      ]);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  const half = contentChunks({ parts: [text('half of it')] }).slice(0, 1);
  it.each<[string, Parameters<MockUpstream['play']>, number]>([
    ['half a stream', [sendEvents(...half)], 502],
    ['an error event', [sendEvents(...half, { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })], 503],
    ['garbage', [sendEvents(...half, '{"half":')], 502],
    [
      'a hang-up',
      [
        (_, response) =>
          void response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .write(`data: ${JSON.stringify(half[0])}\n\n`, () => response.destroy()),
      ],
      502,
    ],
    [
      'a refusal in round 2',
      [contentReply({ parts: [text('a'), call('file_read_v1_0_0', { path: 'a' })] }), errorReply(500, 'INTERNAL', 'no')],
      502,
    ],
  ])('in mid-stream are thrown as an ApiError: %s', async (_, handlers, status) => {
    upstream.play(...handlers);
    const seen: GenerateContentResponse[] = [];
    const drain = async () => {
      for await (const each of await client.models.generateContentStream(ask('hi'))) seen.push(each);
    };
    const failure = await drain().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.flatMap((each) => each.candidates?.[0]?.finishReason ?? [])).toEqual([]);
  });

  it('in mid-stream end an array with their error', async () => {
    upstream.play(sendEvents(...half));
    const chunks = objectsOf(await (await post('/v1beta/models/gemini-x:streamGenerateContent', HELLO)).json());
    expect(chunks.at(-1)).toMatchObject({ error: { code: 502, details: [{ reason: 'UPSTREAM_INCOMPLETE' }] } });
    expect(chunks).toHaveLength(2);
  });

  it('in a later plain round keep their status', async () => {
    upstream.play(contentReply({ parts: [call('file_read_v1_0_0', { path: 'a' })] }), errorReply(503, 'UNAVAILABLE', 'later'));
    await expect(send(false, ask('hi'))).rejects.toMatchObject({ status: 503 });
  });
});

describe('which provider is asked', () => {
  it.each([false, true])('the one that the model names or that lists it (streamed: %s)', async (streamed) => {
    for (const [model, asked] of [
      ['second/gemini-y', 'gemini-y'],
      ['gemma-5', 'gemma-5'],
    ] as const) {
      upstream.play();
      second.play(contentReply({ parts: [text('from the second')] }));
      const path = `/v1beta/models/${encodeURIComponent(model)}`;
      const response = await post(`${path}:${streamed ? 'streamGenerateContent' : 'generateContent'}`, HELLO);
      expect(await response.text()).toContain('from');
      expect(upstream.requests).toHaveLength(0);
      expect(second.requests[0]?.path).toMatch(new RegExp(`^/v1beta/models/${asked}:`));
      expect(second.requests[0]?.headers['x-goog-api-key']).toBe('AIza-second');
    }
  });

  it('takes the slash of a model’s name from the SDK', async () => {
    second.play(contentReply({ parts: [text('ok')] }));
    expect((await send(false, { ...ask('hi'), model: 'models/second/gemini-y' })).text).toBe('ok');
    expect(second.requests[0]?.path).toBe('/v1/models/gemini-y:generateContent');
  });

  it('falls back to another one', async () => {
    upstream.play(errorReply(503, 'UNAVAILABLE', 'busy'));
    second.play(contentReply({ parts: [text('from the second')] }));
    expect((await send(true, ask('hi', withHeaders({ 'x-omniroute-fallback': 'gemma-5' })))).text).toBe('from the second');
    expect(second.requests[0]?.path).toBe('/v1/models/gemma-5:streamGenerateContent?alt=sse');
    expect(JSON.stringify(second.requests)).not.toContain('AIza-upstream');
  });
});

describe('the list of models', () => {
  it.each([undefined, 'v1beta'])('is read by the SDK, version %s', async (version) => {
    upstream.play(sendJson({ models: [{ name: 'models/gemini-x', displayName: 'X' }, { name: 'models/gemini-y' }] }));
    const models = await collect(await openClient(stack.url, stack.apiKey, version).models.list());
    expect(models.map(({ name }) => name)).toEqual(['models/gemini-x', 'models/gemini-y', 'models/learnlm']);
    expect(upstream.requests[0]?.headers['x-goog-api-key']).toBe('AIza-upstream');
    expect(upstream.requests[0]?.path).toMatch(/^\/v1beta\/models\?/);
  });

  it('is told by the key in the query as well', async () => {
    upstream.play(sendJson({ models: [{ name: 'models/gemini-x' }] }));
    const response = await fetch(`${stack.url}/v1/models?key=${stack.apiKey}`);
    expect(await response.json()).toMatchObject({ models: [{ name: 'models/gemini-x' }, { name: 'models/learnlm' }] });
  });
});

describe('a client that leaves', () => {
  it('takes the upstream call of its stream with it', async () => {
    let closed: Promise<void> = Promise.resolve();
    upstream.play((_, response, gone) => {
      closed = gone;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk([text('a')]))}\n\n`);
    });
    for (const path of ['streamGenerateContent?alt=sse', 'streamGenerateContent']) {
      const leaving = new AbortController();
      const response = await fetch(`${stack.url}/v1beta/models/gemini-x:${path}`, {
        method: 'POST',
        headers: { 'x-goog-api-key': stack.apiKey },
        body: HELLO,
        signal: leaving.signal,
      });
      await response.body?.getReader().read();
      leaving.abort();
      await closed;
    }
  });

  it('takes its running tools with it, and the row says so', async () => {
    const session = `gemini-leaver-${Date.now()}`;
    await management.withSkill('eval_code', { policy: 'auto' }, async () => {
      upstream.play(contentReply({ parts: [text('Running. '), call('eval_code_v1_0_0', { code: 'setTimeout(() => {}, 9000)' })] }));
      const leaving = new AbortController();
      const config = { ...withHeaders({ 'x-omniroute-session': session }), abortSignal: leaving.signal };
      const drained = send(true, ask('run', config)).catch((error: unknown) => error);
      const status = async () => (await management.executionsOf(session))[0]?.status;
      await expect.poll(status, { timeout: 10_000 }).toBe('running');
      leaving.abort();
      expect(await drained).toBeInstanceOf(Error);
      await expect.poll(status, { timeout: 5_000 }).toBe('error');
      expect(upstream.requests).toHaveLength(1);
    });
  });
});

describe('without skills', () => {
  it.each<[string, string]>([
    ['generateContent', ''],
    ['streamGenerateContent', '?alt=sse'],
    ['streamGenerateContent', ''],
  ])('the bytes of %s%s pass in both directions as they are', async (action, query) => {
    const request = '{ "contents":[{"parts":[{"text":"h\\u00e9"}]}], "odd" : 1e0 }';
    const reply = `${query ? 'data: ' : ''}{"candidates" : [ ], "x":1e0}\r\n\r\n: odd`;
    upstream.play((_, response) => void response.writeHead(200, { 'content-type': 'application/x-odd', 'x-up': '1' }).end(reply));
    const headers = { 'x-goog-api-key': stack.apiKey, 'x-omniroute-skills': 'off' };
    const response = await post(`/v1beta/models/gemini-x:${action}${query}`, request, headers);
    expect(await response.text()).toBe(reply);
    expect(response.headers.get('content-type')).toBe('application/x-odd');
    expect(response.headers.has('x-omniroute-skills-injected')).toBe(false);
    expect(upstream.requests[0]).toMatchObject({ text: request, path: `/v1beta/models/gemini-x:${action}${query}` });
  });
});
