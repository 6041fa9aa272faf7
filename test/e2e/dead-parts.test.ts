import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLibsqlServer } from '../../dev/libsql-server.ts';
import { applyMigrations } from '../../dev/migrate.ts';
import { findFreePort } from '../../dev/stack/ports.ts';
import { startWorker } from '../../dev/worker.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';

const TOKEN = 'dead-parts-management-token';
let upstream: MockUpstream;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  upstream = await startMockUpstream();
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await upstream?.close();
});

/** A worker alone, whose database and sandbox-host may be dead. */
async function startGateway(libsqlUrl: string, pools: object[] = []) {
  const port = await findFreePort();
  const variables = {
    LIBSQL_URL: libsqlUrl,
    MANAGEMENT_TOKEN: TOKEN,
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    SANDBOX_POOLS: JSON.stringify(pools),
    SANDBOX_SECRET: 'a secret of at least thirty-two characters',
  };
  const worker = await startWorker({ port, variables, onCrash: () => {} });
  closers.push(() => worker.dispose());
  const call = async (method: string, path: string, body?: object, key = TOKEN) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const chat = (key: string, stream = false) =>
    call('POST', '/v1/chat/completions', { model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }, key);
  return { call, chat };
}

const toolContents = (index: number): JsonObject[] =>
  objectsOf(upstream.requests[index]?.body.messages)
    .filter((message) => message.role === 'tool')
    .map((message) => JSON.parse(String(message.content)) as JsonObject);

describe('a dead database', () => {
  it('at start: chat and REST answer 503 in their shapes, health says so', async () => {
    const { call, chat } = await startGateway(`http://127.0.0.1:${await findFreePort()}`);
    const health = await call('GET', '/healthz');
    expect([health.status, JSON.parse(health.text)]).toMatchObject([503, { database: 'unavailable' }]);
    const refused = await chat(`omr_${'A'.repeat(43)}`);
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([503, { error: { code: 'database_unavailable' } }]);
    const listed = await call('GET', '/api/skills');
    expect([listed.status, JSON.parse(listed.text)]).toMatchObject([503, { code: 'database_unavailable' }]);
  });

  it('in mid-request: the warm gateway answers, and the model reads that the skill could not be run', async () => {
    const database = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1' });
    await applyMigrations({ url: database.url });
    const { call, chat } = await startGateway(database.url);
    const { key } = JSON.parse((await call('POST', '/api/keys', { name: 'k' })).text) as { key: string };
    upstream.play(chatReply({ text: 'warm' }));
    expect((await chat(key)).status).toBe(200);
    await database.close();
    for (const stream of [false, true]) {
      upstream.play(chatReply({ calls: [['c', 'file_read_v1_0_0', '{"path":"a"}']] }), chatReply({ text: 'sorry' }));
      const { status, text } = await chat(key, stream);
      expect([status, text.includes('sorry')]).toEqual([200, true]);
      expect(toolContents(1)).toEqual([{ success: false, error: 'The database cannot be reached' }]);
    }
  });
});

describe('a dead sandbox-host', () => {
  it('is an error that the model reads, and the request goes on', async () => {
    const database = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1' });
    closers.push(() => database.close());
    await applyMigrations({ url: database.url });
    const { call, chat } = await startGateway(database.url, [{ name: 'gone', urls: [`http://127.0.0.1:${await findFreePort()}`] }]);
    const { key } = JSON.parse((await call('POST', '/api/keys', { name: 'k' })).text) as { key: string };
    const listed = JSON.parse((await call('GET', '/api/skills?q=eval_code')).text) as { data: JsonObject[] };
    await call('PUT', `/api/skills/${listed.data[0]?.id}`, { policy: 'auto' });
    upstream.play(chatReply({ calls: [['c', 'eval_code_v1_0_0', '{"code":"1"}']] }), chatReply({ text: 'sorry' }));
    const { status, text } = await chat(key);
    expect([status, text.includes('sorry')]).toEqual([200, true]);
    expect(toolContents(1)).toMatchObject([{ success: false, error: 'No sandbox host is available' }]);
    const executions = JSON.parse((await call('GET', '/api/skills/executions')).text) as { data: JsonObject[] };
    expect(executions.data).toMatchObject([{ status: 'error', errorMessage: 'No sandbox host is available' }]);
    expect(JSON.parse((await call('GET', '/healthz')).text)).toMatchObject({ sandbox: 'unavailable' });
  });
});
