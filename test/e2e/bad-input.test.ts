import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;

beforeAll(async () => {
  upstream = await startMockUpstream();
  upstream.play(chatReply({ text: 'ok' }));
  const providers = [{ name: 'local', format: 'openai', baseUrl: `${upstream.url}/v1`, models: ['local-*'] }];
  stack = await startTestStack({ PROVIDERS: JSON.stringify(providers) });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

async function post(body: BodyInit | object, headers: Record<string, string> = {}) {
  const isReady = typeof body === 'string' || body instanceof ReadableStream || body instanceof Uint8Array;
  const response = await fetch(`${stack.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', ...headers },
    body: isReady ? (body as BodyInit) : JSON.stringify(body),
    duplex: 'half',
  } as RequestInit);
  return { status: response.status, body: (await response.json()) as { error?: { message: string; code: string; type: string } } };
}

const hello = [{ role: 'user', content: 'hi' }];
const ok = { model: 'local-1', messages: hello };

describe('what a client does wrong is answered in OpenAI’s shape', () => {
  it.each<[string, string | object, number, string]>([
    ['no JSON', '{"model":', 400, 'invalid_json'],
    ['an empty body', '', 400, 'invalid_json'],
    ['broken UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid_json'],
    ['an array', '[]', 400, 'invalid_request'],
    ['deep nesting', `{"model":"local-1","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, 'invalid_json'],
    ['no model', { messages: hello }, 400, 'invalid_request'],
    ['a model of the wrong type', { ...ok, model: { a: 1 } }, 400, 'invalid_request'],
    ['no messages', { model: 'local-1' }, 400, 'invalid_request'],
    ['messages of the wrong type', { ...ok, messages: [[]] }, 400, 'invalid_request'],
    ['tools of the wrong type', { ...ok, tools: 'all' }, 400, 'invalid_request'],
    ['an unknown model', { ...ok, model: 'no-such-model' }, 404, 'model_not_found'],
    ['an unknown provider in the name', { ...ok, model: 'nobody/local-1' }, 404, 'model_not_found'],
  ])('%s', async (_, sent, status, code) => {
    const { status: answered, body } = await post(sent);
    expect([answered, body.error?.code]).toEqual([status, code]);
    expect(body.error?.message).not.toMatch(/\/(?:work|root|home|tmp|src|node_modules)\b/);
  });

  it('bodies above 20 MiB, with and without their length in front', async () => {
    const text = JSON.stringify({ ...ok, messages: [{ role: 'user', content: 'x'.repeat(21 * 1024 * 1024) }] });
    expect((await post(text)).status).toBe(413);
    expect((await post(text, { authorization: '' })).status).toBe(401);
    const chunked = new Blob([text]).stream();
    const { status, body } = await post(chunked);
    expect([status, body.error?.code]).toEqual([413, 'payload_too_large']);
  });

  it('a body just below 20 MiB is let pass', async () => {
    const { status } = await post({ ...ok, messages: [{ role: 'user', content: 'x'.repeat(19 * 1024 * 1024) }] });
    expect(status).toBe(200);
  });

  it.each<[Record<string, string>, number, string]>([
    [{ authorization: '' }, 401, 'unauthorized'],
    [{ authorization: 'Bearer nonsense' }, 401, 'unauthorized'],
    [{ authorization: 'Basic abc' }, 401, 'unauthorized'],
    [{ 'x-omniroute-skills': 'sometimes' }, 400, 'invalid_request'],
    [{ 'idempotency-key': 'x'.repeat(256) }, 400, 'invalid_request'],
  ])('headers %j', async (headers, status, code) => {
    const { status: answered, body } = await post(ok, headers);
    expect([answered, body.error?.code]).toEqual([status, code]);
  });

  it('unknown paths and methods', async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    for (const [method, path] of [
      ['GET', '/v1/chat/completions'],
      ['POST', '/v1/nothing'],
      ['GET', '/nothing'],
    ] as const) {
      expect((await fetch(`${stack.url}${path}`, { method, headers })).status).toBe(404);
    }
  });
});

describe('credentials', () => {
  it.each(['authorization', 'x-api-key', 'x-goog-api-key', 'query'])('are taken from %s', async (place) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (place === 'authorization') headers.authorization = `Bearer ${stack.apiKey}`;
    else if (place !== 'query') headers[place] = stack.apiKey;
    const url = `${stack.url}/v1/chat/completions${place === 'query' ? `?key=${stack.apiKey}` : ''}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(ok) });
    expect(response.status).toBe(200);
  });
});
