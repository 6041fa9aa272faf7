import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

let app: TestApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function open(options: TestAppOptions): Promise<{ app: TestApp; as: string; id: string }> {
  app = await createTestApp(options);
  const { body } = await app.call('/api/keys', { json: { name: 'remembers', routingMemory: true } });
  expect(body.routingMemory).toBe(true);
  return { app, as: body.key as string, id: body.id as string };
}

const remembered = async (opened: TestApp) => {
  await opened.settle();
  const { rows } = await opened.database.client.execute('SELECT * FROM routing_memory ORDER BY id');
  return rows.map((row) => ({ ...row }) as Record<string, unknown>);
};

const ask = (text: string, more: JsonObject = {}): JsonObject => ({ model: 'gpt-x', messages: [{ role: 'user', content: text }], ...more });
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const reply = (message: JsonObject = { role: 'assistant', content: 'Guten Tag' }, finish = 'stop') =>
  `{ "id": "c1", "object": "chat.completion",   "choices": [{"index":0,"finish_reason":"${finish}","message":${JSON.stringify(message)}}], "usage": ${JSON.stringify(usage)} }`;
const json = (text: string, status = 200) => new Response(text, { status, headers: { 'content-type': 'application/json' } });
const off = { 'x-omniroute-skills': 'off' };

describe('the memory of a key', () => {
  it('has a row for a forwarded reply, whose bytes stay as they are', async () => {
    const { app, as, id } = await open({ upstream: () => json(reply()) });
    const response = await app.request('/v1/chat/completions', {
      as,
      headers: off,
      json: ask('Translate the contract for ada@example.com'),
    });
    expect(await response.text()).toBe(reply());
    expect(await remembered(app)).toEqual([
      {
        ...{ id: 1, api_key_id: id, provider: 'openai', model: 'gpt-x', skills: '[]', success: 1 },
        ...{ latency_ms: expect.any(Number), input_tokens: 11, output_tokens: 7 },
        ...{ digest: 'contract translate', created_at: expect.stringMatching(/Z$/) },
      },
    ]);
  });

  it('has one for a forwarded stream', async () => {
    const frames = [{ choices: [{ index: 0, delta: { content: 'Hi' } }] }, { choices: [], usage }].map(
      (event) => `data: ${JSON.stringify(event)}\n\n`,
    );
    const text = `${frames.join('')}data: [DONE]\n\n`;
    const { app, as } = await open({ upstream: () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }) });
    const response = await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet', { stream: true }) });
    expect(await response.text()).toBe(text);
    expect(await remembered(app)).toMatchObject([{ success: 1, input_tokens: 11, output_tokens: 7, digest: 'greet' }]);
  });

  it('has a stream that tells of an error as a failure', async () => {
    const text = 'data: {"error":{"message":"overloaded"}}\n\n';
    const { app, as } = await open({ upstream: () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }) });
    await (await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet', { stream: true }) })).text();
    expect(await remembered(app)).toMatchObject([{ success: 0, input_tokens: null }]);
  });

  it('has the tokens of all rounds, and the skills that ran', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'file_write_v1_0_0', arguments: '{"path":"a.txt","content":"x"}' } };
    let round = 0;
    const { app, as } = await open({
      upstream: () => json(round++ === 0 ? reply({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls') : reply()),
    });
    await app.request('/v1/chat/completions', { as, json: ask('write a file with file_write') });
    expect(round).toBe(2);
    expect(await remembered(app)).toMatchObject([{ success: 1, input_tokens: 22, output_tokens: 14, skills: '["file_write@1.0.0"]' }]);
  });

  it.each([
    [408, 1],
    [429, 1],
    [500, 1],
    [529, 1],
    [400, 0],
    [401, 0],
    [404, 0],
    [413, 0],
    [422, 0],
  ])('has a refusal with %i as %i failures', async (status, failures) => {
    const { app, as } = await open({ upstream: () => json('{"error":{"message":"no"}}', status) });
    for (const headers of [off, {}] as Record<string, string>[]) {
      const response = await app.request('/v1/chat/completions', { as, headers, json: ask('write a file with file_write') });
      expect(response.status).toBe(status);
    }
    const failure = { success: 0, model: 'gpt-x' };
    expect(await remembered(app)).toMatchObject(failures === 0 ? [] : [failure, failure]);
  });

  it('has a provider that cannot be reached as a failure', async () => {
    const { app, as } = await open({ upstream: () => Promise.reject(new TypeError('unreachable')) });
    expect((await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet') })).status).toBe(502);
    expect(await remembered(app)).toMatchObject([{ success: 0, provider: 'openai' }]);
  });

  it('names the provider that answered, when another one did', async () => {
    const { app, as } = await open({
      upstream: ({ url }) => (url.startsWith('https://spare.example') ? json(reply()) : json('{}', 503)),
      variables: { PROVIDERS: JSON.stringify([{ name: 'spare', format: 'openai', baseUrl: 'https://spare.example/v1' }]) },
    });
    await (
      await app.request('/v1/chat/completions', { as, headers: { ...off, 'x-omniroute-fallback': 'spare/backup' }, json: ask('greet') })
    ).text();
    expect(await remembered(app)).toMatchObject([{ success: 1, provider: 'spare', model: 'backup' }]);
  });

  it('has nothing of what a client did wrong, of texts without words and of counting tokens', async () => {
    const { app, as } = await open({
      upstream: () => json(reply()),
      variables: { ANTHROPIC_BASE_URL: 'https://anthropic.example', ANTHROPIC_API_KEY: 'x' },
    });
    await app.request('/v1/chat/completions', { as, body: '{' });
    await app.request('/v1/chat/completions', { as, json: { model: 'gpt-x' } });
    await app.request('/v1/chat/completions', { as, headers: off, json: ask('12345678') });
    await app.request('/v1/messages/count_tokens', { as, json: { model: 'claude-x', messages: [{ role: 'user', content: 'greet' }] } });
    expect(await remembered(app)).toEqual([]);
  });

  it('has nothing of a client that leaves before the end', async () => {
    const left = new AbortController();
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new TextEncoder().encode('data: {}\n\n')) },
      { highWaterMark: 0 },
    );
    const { app, as } = await open({ upstream: () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }) });
    const response = await app.request('/v1/chat/completions', {
      as,
      headers: off,
      json: ask('greet', { stream: true }),
      signal: left.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    left.abort();
    await reader.cancel();
    expect(await remembered(app)).toEqual([]);
  });

  it('reads no more of a reply than it may keep for a slow client', async () => {
    const chunk = new TextEncoder().encode(`data: ${'x'.repeat(1024 * 1024)}\n\n`);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent += 1;
          if (sent > 40) controller.close();
          else controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    );
    const { app, as } = await open({ upstream: () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }) });
    const response = await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet', { stream: true }) });
    expect(await remembered(app)).toMatchObject([{ success: 1, latency_ms: null, input_tokens: null }]);
    expect(sent).toBeLessThan(10);
    expect((await response.arrayBuffer()).byteLength).toBe(40 * chunk.length);
  });

  it('is not the request’s concern when the database is away', async () => {
    let away = false;
    const { app, as } = await open({
      upstream: () => {
        away = true;
        return json(reply());
      },
      databaseFetch: (request, send) => (away ? Promise.reject(new TypeError('away')) : send(request)),
    });
    const response = await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet') });
    expect([response.status, await response.text()]).toEqual([200, reply()]);
    await app.settle();
    expect(app.entries.at(-1)).toMatchObject({
      event: 'routing_memory.not_recorded',
      level: 'warn',
      requestId: expect.any(String),
      code: 'database_unavailable',
    });
    away = false;
    expect(await remembered(app)).toEqual([]);
  });
});

describe('a key that did not ask for it', () => {
  it('leaves no row', async () => {
    const { app } = await open({ upstream: () => json(reply()) });
    await (await app.request('/v1/chat/completions', { as: app.key.key, headers: off, json: ask('greet') })).text();
    expect(await remembered(app)).toEqual([]);
  });
});

describe('PUT /api/keys/:id', () => {
  it('switches the memory on, and off again, which forgets', async () => {
    const { app } = await open({ upstream: () => json(reply()) });
    const { id, key: as } = app.key;
    const chat = async () => (await app.request('/v1/chat/completions', { as, headers: off, json: ask('greet') })).text();
    await chat();
    const { status, body } = await app.call(`/api/keys/${id}`, { method: 'PUT', json: { routingMemory: true } });
    expect([status, body]).toMatchObject([200, { id, routingMemory: true, name: 'test' }]);
    await chat();
    expect(await remembered(app)).toHaveLength(1);
    expect((await app.call(`/api/keys/${id}`, { method: 'PUT', json: { routingMemory: false } })).body.routingMemory).toBe(false);
    expect(await remembered(app)).toEqual([]);
    await chat();
    expect(await remembered(app)).toEqual([]);
  });

  it.each([{}, { routingMemory: 'yes' }, { routingMemory: null }, { routingMemory: true, name: 'x' }])('refuses %j', async (json) => {
    const { app } = await open({});
    const { status, body } = await app.call(`/api/keys/${app.key.id}`, { method: 'PUT', json });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it('knows no key that is not there, and is for the management', async () => {
    const { app } = await open({});
    const { status, body } = await app.call('/api/keys/nope', { method: 'PUT', json: { routingMemory: true } });
    expect([status, body]).toEqual([404, { error: 'No API key with id nope', code: 'key_not_found' }]);
    expect((await app.call(`/api/keys/${app.key.id}`, { method: 'PUT', as: app.key.key, json: { routingMemory: true } })).status).toBe(403);
  });
});

describe('memory_aware_routing', () => {
  const route = async (opened: TestApp, as: string, data: JsonObject) => {
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'data', data }] };
    const response = await opened.request('/a2a', { as, json: { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } } });
    const { result } = (await response.json()) as { result: { artifacts: { parts: [JsonObject, { data: JsonObject }] }[] } };
    return result.artifacts[0]?.parts[1].data as JsonObject & { evidence: { remembered: number; requests: JsonObject[] } };
  };

  it('recommends what did well in similar requests of the same key', async () => {
    const { app, as } = await open({
      upstream: async (request) => (JSON.stringify(await request.json()).includes('"bad"') ? json('{}', 500) : json(reply())),
    });
    for (const model of ['bad', 'good'])
      await (await app.request('/v1/chat/completions', { as, headers: off, json: ask('Translate a German contract', { model }) })).text();
    await app.settle();
    const answer = await route(app, as, { task: 'translate this contract please' });
    expect(answer).toMatchObject({
      basis: 'memory',
      provider: 'openai',
      model: 'good',
      use: 'openai/good',
      evidence: { remembered: 2, similar: 2 },
    });
    expect(answer.reason).toMatch(/^openai\/good: 1 of 1 similar request succeeded, /);
    expect(answer.evidence.requests.map(({ sharedWords }) => sharedWords)).toEqual([
      ['contract', 'translate'],
      ['contract', 'translate'],
    ]);
    expect(await route(app, as, { task: 'translate this contract please' })).toEqual(answer);

    const other = await app.createKey();
    expect(await route(app, other.key, { task: 'translate this contract' })).toMatchObject({
      basis: 'default',
      reason:
        'Routing memory is off for this key: PUT /api/keys/:id {"routingMemory": true} switches it on. Nothing is remembered of this key yet. The default is provider openai, whose models the configuration does not name.',
      evidence: { remembered: 0 },
    });
  });

  it('names the setting fallbackModels as the default', async () => {
    const { app, as } = await open({});
    await app.call('/api/settings', { method: 'PUT', json: { fallbackModels: ['openai/gpt-y'] } });
    expect(await route(app, as, { task: 'anything', contextRequired: true })).toMatchObject({
      basis: 'default',
      provider: 'openai',
      model: 'gpt-y',
      reason: 'Nothing is remembered of this key yet. The default is openai/gpt-y.',
    });
  });

  it('searches for whatever a task says', async () => {
    const { app, as } = await open({});
    for (const task of ['" OR *', 'NEAR(a b)', 'a AND NOT b', 'digest : x', '🔥', "'; DROP TABLE routing_memory; --"])
      expect(await route(app, as, { task })).toMatchObject({ basis: 'default' });
  });

  it('says so when there is no provider', async () => {
    const { app, as } = await open({ variables: { OPENAI_BASE_URL: undefined, OPENAI_API_KEY: undefined } });
    expect(await route(app, as, { task: 'x y z' })).toMatchObject({ provider: null, model: null, reason: 'No provider is configured.' });
  });
});
