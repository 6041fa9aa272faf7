import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { MANAGEMENT_TOKEN } from '../support/app.ts';
import { createMcpApp, type McpApp } from '../support/mcp-app.ts';

let mcp: McpApp;
beforeAll(async () => {
  mcp = await createMcpApp();
  await mcp.install({ name: 'echo' });
});
afterAll(() => mcp.app.close());

const request = (method: string, params: JsonObject = {}, id: JsonValue = 1) => ({ jsonrpc: '2.0', id, method, params });
const execute = (id: JsonValue = 1) =>
  request('tools/call', { name: 'omniroute_skills_execute', arguments: { skillName: 'echo', input: { n: 1 } } }, id);
/** As every request of the revision 2026-07-28 says who sends it. */
const envelope = (revision = '2026-07-28') => ({
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});
const initialize = (protocolVersion: string, capabilities: JsonObject = {}) =>
  request('initialize', { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } });

describe('authentication', () => {
  it.each([
    [null, 'Bearer realm="OmniRoute Edge"'],
    ['omr_wrong', 'Bearer realm="OmniRoute Edge", error="invalid_token", error_description="No such API key"'],
  ])('challenges a caller with the key %s', async (as, challenge) => {
    const { status, headers, body } = await mcp.post(request('tools/list'), { as });
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge]);
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32000,
        message: 'A valid API key is required: send it as Authorization: Bearer <key>',
        data: { code: 'unauthorized' },
      },
    });
  });

  it.each(['GET', 'DELETE'])('challenges a %s, too', async (method) => {
    const response = await mcp.app.request('/mcp?expose=skills', { method, as: null });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="OmniRoute Edge"']);
  });

  it('takes a key in any of its places, with any scope', async () => {
    const { key } = await mcp.app.createKey(['chat']);
    for (const place of [{ headers: { 'x-api-key': key } }, { path: `/mcp?key=${key}` }]) {
      const { status, body } = await mcp.post(request('tools/list'), { as: null, ...place });
      expect([status, body?.result]).toEqual([200, { tools: expect.any(Array) }]);
    }
  });

  it('offers skills as tools only to a key that may run them', async () => {
    const { key } = await mcp.app.createKey(['chat', 'read:skills']);
    for (const method of ['GET', 'POST']) {
      const response = await mcp.app.request('/mcp?expose=skills', { as: key, method });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer realm="OmniRoute Edge", error="insufficient_scope"',
      ]);
      expect(await response.json()).toMatchObject({ error: { message: 'The API key lacks the scope execute:skills' } });
    }
  });

  it('counts requests as those of other endpoints', async () => {
    let left = 1;
    const limited = await createMcpApp({ rateLimiter: { limit: async () => ({ success: left-- > 0 }) } });
    expect((await limited.post(request('tools/list'))).status).toBe(200);
    const { status, headers, body } = await limited.post(request('tools/list'));
    expect([status, headers.get('retry-after'), body?.error]).toMatchObject([429, '10', { data: { code: 'rate_limited' } }]);
    await limited.app.close();
  });
});

describe('origins', () => {
  const statusOf = async (url: string, origin: string) => {
    const json = JSON.stringify(request('tools/list'));
    const headers = {
      authorization: `Bearer ${mcp.app.key.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const { status } = await mcp.app.app.request(url, { method: 'POST', body: json, headers: { ...headers, origin } }, {}, context);
    return status;
  };
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };

  it.each([
    ['http://127.0.0.1:8787/mcp', 'http://localhost:3000', 200],
    ['http://localhost:8787/mcp', 'http://127.0.0.1:8787', 200],
    ['http://[::1]:8787/mcp', 'http://localhost', 200],
    ['https://gateway.example/mcp', 'https://gateway.example', 200],
    ['https://gateway.example/mcp', 'https://evil.example', 403],
    ['https://gateway.example/mcp', 'http://gateway.example', 403],
    ['https://gateway.example/mcp', 'http://localhost:3000', 403],
    ['http://127.0.0.1:8787/mcp', 'https://evil.example', 403],
    ['http://127.0.0.1:8787/mcp', 'http://127.0.0.1.evil.example', 403],
    ['http://evil.example:8787/mcp', 'http://evil.example:8787', 403],
    ['http://localhost/mcp', 'null', 403],
    ['http://localhost/mcp', 'nonsense', 403],
  ])('at %s a page of %s gets %i', async (url, origin, status) => {
    expect(await statusOf(url, origin)).toBe(status);
  });
});

describe('what is no request', () => {
  it.each<[string, string, number, number]>([
    ['text', 'hello', 400, -32700],
    ['nothing', '', 400, -32700],
    ['a control character', '\u0000', 400, -32700],
    ['JSON that breaks off', '{"jsonrpc":"2.0","id":1', 400, -32700],
    ['JSON of 100 levels', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 400, -32700],
    ['a number', '5', 400, -32600],
    ['null', 'null', 400, -32600],
    ['a batch', JSON.stringify([request('tools/list')]), 400, -32600],
    ['an empty batch', '[]', 400, -32600],
    ['an empty object', '{}', 400, -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400, -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":5}', 400, -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', 400, -32600],
    ['an answer to nothing', '{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600],
    ['an answer to an approval that there is not', '{"jsonrpc":"2.0","id":"approval:x","result":{"action":"accept"}}', 400, -32600],
    ['an error for nothing', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', 400, -32600],
  ])('refuses %s', async (_, body, status, code) => {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, method: 'POST', body, headers });
    expect([response.status, ((await response.json()) as JsonObject).error]).toMatchObject([status, { code }]);
  });

  it('refuses a body that is too large', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(21 * 1024 * 1024)}"}`;
    const response = await mcp.app.request('/mcp', {
      as: mcp.app.key.key,
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, await response.json()]).toMatchObject([413, { error: { data: { code: 'payload_too_large' } } }]);
  });

  it('takes a call with a large input', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024);
    const params = { name: 'omniroute_skills_execute', arguments: { skillName: 'echo', input: { text } } };
    const { body } = await mcp.post(request('tools/call', params));
    expect(body).toMatchObject({ result: { structuredContent: { execution: { status: 'success', output: { text } } } } });
  });

  it.each([
    ['no JSON accepted', { accept: 'text/html' }, 406],
    ['another content type', { 'content-type': 'text/plain' }, 415],
    ['a revision that there is not', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['an Idempotency-Key with a space', { 'idempotency-key': 'a b' }, 400],
  ])('refuses %s', async (_, headers, status) => {
    expect((await mcp.post(request('tools/list'), { headers })).status).toBe(status);
  });

  it('refuses another value of expose', async () => {
    const { status, body } = await mcp.post(request('tools/list'), { path: '/mcp?expose=all' });
    expect([status, body?.error]).toMatchObject([400, { message: 'expose: the only value is skills' }]);
  });

  it.each([
    ['GET', '/mcp', 'POST'],
    ['DELETE', '/mcp', 'POST'],
    ['PUT', '/mcp', 'POST'],
    ['PATCH', '/mcp?expose=skills', 'GET, POST'],
    ['DELETE', '/mcp?expose=skills', 'GET, POST'],
  ])('refuses %s %s', async (method, path, allowed) => {
    const response = await mcp.app.request(path, { method, as: mcp.app.key.key });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
  });
});

describe('the protocol', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2024-10-07'],
    ['2030-01-01', '2025-11-25'],
    ['nonsense', '2025-11-25'],
  ])('answers a client of %s with %s', async (asked, answered) => {
    const { status, body, headers } = await mcp.post(initialize(asked));
    expect([status, body?.result]).toMatchObject([200, { protocolVersion: answered, serverInfo: { name: 'omniroute-edge' } }]);
    expect(headers.get('x-omniroute-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tells a client of 2026-07-28 what it is', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
    const { body } = await mcp.post(request('server/discover', { _meta: envelope() }), { headers });
    expect(body?.result).toMatchObject({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
  });

  it('refuses a revision of the later kind that there is not, and says which there are', async () => {
    const headers = { 'mcp-protocol-version': '2030-01-01', 'mcp-method': 'tools/list' };
    const { status, body } = await mcp.post(request('tools/list', { _meta: envelope('2030-01-01') }), { headers });
    expect([status, body?.error]).toMatchObject([400, { code: -32022, data: { supported: expect.arrayContaining(['2026-07-28']) } }]);
  });

  it('refuses headers that say something else than the body', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' };
    const { status, body } = await mcp.post(request('tools/list', { _meta: envelope() }), { headers });
    expect([status, body?.error]).toMatchObject([400, { code: -32020 }]);
  });

  it.each(['resources/list', 'prompts/list', 'logging/setLevel', 'nonsense', '__proto__'])('knows no method %s', async (method) => {
    const { body } = await mcp.post(request(method));
    expect(body).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('gives a session an id that says whether the client can be asked, and keeps none', async () => {
    const idOf = async (capabilities: JsonObject) => (await mcp.post(initialize('2025-11-25', capabilities))).headers.get('mcp-session-id');
    expect(await idOf({})).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf({ elicitation: { url: {} } })).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf({ elicitation: {} })).toMatch(/^[0-9a-f-]{36}-elicitation$/);
    expect(await idOf({ elicitation: { form: {} } })).toMatch(/^[0-9a-f-]{36}-elicitation$/);
    expect((await mcp.post(request('tools/list'), { headers: { 'mcp-session-id': 'made up' } })).status).toBe(200);
  });

  it.each(['notifications/initialized', 'notifications/cancelled', 'notifications/nonsense'])(
    'takes the notification %s',
    async (method) => {
      const { status, body } = await mcp.post({ jsonrpc: '2.0', method, params: { requestId: 7 } });
      expect([status, body]).toEqual([202, undefined]);
    },
  );

  it('answers under the id of the request, whatever it is', async () => {
    for (const id of [0, -1, 'a', '', '\u0000\ud800', 'x'.repeat(190)]) {
      const { body } = await mcp.post(execute(id));
      expect([body?.id, body?.result]).toMatchObject([id, { structuredContent: { execution: { status: 'success' } } }]);
    }
  });

  it('refuses an id that no row could be found by', async () => {
    const { body } = await mcp.post(execute('x'.repeat(300)));
    expect(body?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('at most 200 characters') }] });
  });

  it('takes arguments that are no object for a fault of the request', async () => {
    const { body } = await mcp.post(request('tools/call', { name: 'omniroute_skills_list', arguments: [1] }));
    expect(body).toMatchObject({ error: { code: -32602 } });
  });
});

describe('one call', () => {
  it('is claimed by the request and the id, and told under the request’s id in the log', async () => {
    const { headers, body } = await mcp.post(execute('call-7'));
    const requestId = headers.get('x-omniroute-request-id');
    expect(body).toMatchObject({ result: { structuredContent: { execution: { requestId, callId: 'mcp:"call-7"' } } } });
    expect(mcp.app.entries.findLast(({ event }) => event === 'skills.executor.complete')).toMatchObject({ requestId });
  });

  it('runs once under one Idempotency-Key, in the same request', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const idOf = async (id: number) => {
      const { body } = await mcp.post(execute(id), { headers });
      return (body as { result: { structuredContent: { execution: JsonObject } } }).result.structuredContent.execution.id;
    };
    const [first, second] = await Promise.all([idOf(1), idOf(1)]);
    expect(second).toBe(first);
    expect(await idOf(1)).toBe(first);
    expect(await idOf(2)).not.toBe(first);
  });

  it('with another input under that key is refused', async () => {
    const headers = { 'idempotency-key': 'order-2' };
    await mcp.post(execute(), { headers });
    const params = { name: 'omniroute_skills_execute', arguments: { skillName: 'echo', input: { n: 2 } } };
    const { body } = await mcp.post(request('tools/call', params), { headers });
    expect(body?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('idempotency_conflict') }] });
  });

  it('of the management belongs to nobody', async () => {
    const { body } = await mcp.post(execute(), { as: MANAGEMENT_TOKEN });
    expect(body?.result).toMatchObject({ structuredContent: { execution: { apiKeyId: 'anonymous' } } });
  });
});
