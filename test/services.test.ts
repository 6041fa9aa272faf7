import { afterEach, expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestAppOptions } from './support/app.ts';

let app: TestApp;
afterEach(() => app.close());

const openedAt = Date.parse('2026-11-30T00:00:00Z');

/** An app whose clock is set by hand, and the bodies that its upstream was sent. */
async function open(options: TestAppOptions = {}) {
  const clock = { time: openedAt };
  const bodies: { tools?: { function: { name: string } }[] }[] = [];
  app = await createTestApp({
    now: () => clock.time,
    upstream: async (request) => {
      bodies.push((await request.json()) as (typeof bodies)[number]);
      return Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
    },
    ...options,
  });
  const toolsOfNextChat = async () => {
    const json = { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] };
    const response = await app.request('/v1/chat/completions', { as: app.key.key, json });
    expect(response.status).toBe(200);
    await response.text();
    await app.settle();
    return (bodies.at(-1)?.tools ?? []).map((tool) => tool.function.name);
  };
  return { clock, toolsOfNextChat };
}

const changeBehindOurBack = (sql: string) => app.database.client.execute(sql);
const switchOff = () => changeBehindOurBack("UPDATE skills SET mode = 'off', enabled = 0 WHERE name = 'http_request'");
const HTTP_REQUEST = 'http_request_v1_0_0';

const install = async (fields: { name: string; mode?: string; apiKeyId?: string }) =>
  app.call('/api/skills/install', { json: { description: 'x', schema: {}, handlerCode: 'echo-handler', mode: 'on', ...fields } });

it('a skill that was installed here is offered by the next request', async () => {
  const { toolsOfNextChat } = await open();
  expect(await toolsOfNextChat()).not.toContain('fresh_v1_0_0');
  await install({ name: 'fresh' });
  expect(await toolsOfNextChat()).toContain('fresh_v1_0_0');
});

it('a key is offered its own skills and those of all, nothing else', async () => {
  const { toolsOfNextChat } = await open();
  const other = await app.createKey();
  await install({ name: 'mine', apiKeyId: app.key.id });
  await install({ name: 'theirs', apiKeyId: other.id });
  const tools = await toolsOfNextChat();
  expect(tools).toContain('mine_v1_0_0');
  expect(tools).not.toContain('theirs_v1_0_0');
});

it('what another isolate changed is seen when 60 s are over, and no sooner while the database is not asked', async () => {
  const { clock, toolsOfNextChat } = await open();
  expect(await toolsOfNextChat()).toContain(HTTP_REQUEST);
  await switchOff();
  clock.time += 29_999;
  expect(await toolsOfNextChat()).toContain(HTTP_REQUEST);
  clock.time += 30_001;
  expect(await toolsOfNextChat()).not.toContain(HTTP_REQUEST);
});

it('a chat request of a warm isolate does not wait for the database', async () => {
  const { clock, toolsOfNextChat } = await open();
  await toolsOfNextChat();
  await app.database.close();
  clock.time += 59_000;
  expect(await toolsOfNextChat()).toContain(HTTP_REQUEST);
});

it('settings that another isolate changed are seen when 60 s are over', async () => {
  const { clock, toolsOfNextChat } = await open();
  await toolsOfNextChat();
  await changeBehindOurBack("INSERT INTO settings (key, value, updated_at) VALUES ('skillsEnabled', 'false', '')");
  expect(await toolsOfNextChat()).not.toEqual([]);
  clock.time += 60_000;
  expect(await toolsOfNextChat()).toEqual([]);
});

it('a key that another isolate deleted stops working when 60 s are over', async () => {
  const { clock } = await open();
  const status = async () => (await app.request('/api/skills/executions', { as: app.key.key })).status;
  expect(await status()).toBe(200);
  await changeBehindOurBack('DELETE FROM api_keys');
  expect(await status()).toBe(200);
  clock.time += 60_000;
  expect(await status()).toBe(401);
});

it('what cannot be a key is not looked up', async () => {
  await open();
  await app.database.close();
  expect((await app.request('/api/skills/executions', { as: 'sk-not-ours' })).status).toBe(401);
});

it('a run takes the sandbox near to where its request came in', async () => {
  const asked: string[] = [];
  const pools = [
    { name: 'us', urls: ['http://us.example'], colos: ['EWR'], continents: ['NA'] },
    { name: 'eu', urls: ['http://eu.example'], colos: ['AMS'], continents: ['EU'] },
  ];
  await open({
    variables: { SANDBOX_POOLS: JSON.stringify(pools), SANDBOX_SECRET: 's'.repeat(32) },
    upstream: (request) => {
      asked.push(new URL(request.url).hostname);
      return Response.json({ error: 'broken', code: 'internal_error' }, { status: 500 });
    },
  });
  for (const cf of [{ colo: 'AMS', continent: 'NA' }, { colo: 'XXX', continent: 'EU' }, { colo: 5 }, undefined]) {
    const body = JSON.stringify({ skillName: 'eval_code', input: { code: '1' } });
    const headers = { authorization: `Bearer ${app.key.key}` };
    const request = Object.assign(new Request('http://gateway/api/skills/executions', { method: 'POST', body, headers }), { cf });
    const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
    expect((await app.app.fetch(request, {}, context)).status).toBe(200);
  }
  expect(asked).toEqual(['eu.example', 'eu.example', 'us.example', 'us.example']);
  const { rows } = await app.database.client.execute('SELECT sandbox_id FROM skill_executions ORDER BY rowid');
  expect(rows.map((row) => row.sandbox_id)).toEqual(asked.map((host) => `http://${host}`));
});

it('a handler that is registered can be named by a skill, and runs', async () => {
  await open();
  app.services.executor.registerHandler('late', async () => ({ late: true }));
  const json = { name: 'late', description: 'x', schema: {}, handlerCode: 'late' };
  expect((await app.call('/api/skills/install', { json })).status).toBe(201);
  const { body } = await app.call('/api/skills/executions', { json: { skillName: 'late' } });
  expect(body.execution).toMatchObject({ status: 'success', output: { late: true } });
});

it('the cron trigger keeps the history of executions for 30 days, or as long as the setting says', async () => {
  const { clock } = await open();
  const dayMs = 24 * 3_600_000;
  await install({ name: 'mine' });
  const run = async () => (await app.call('/api/skills/executions', { json: { skillName: 'mine' } })).body.execution as { id: string };
  const isKept = async ({ id }: { id: string }) => {
    await app.services.maintain();
    return (await app.services.executions.get(id)) !== undefined;
  };
  const first = await run();
  clock.time += 30 * dayMs;
  expect(await isKept(first)).toBe(true);
  const second = await run();
  clock.time += 1;
  expect([await isKept(first), await isKept(second)]).toEqual([false, true]);

  await app.call('/api/settings', { method: 'PUT', json: { executionRetentionDays: 7 } });
  clock.time += 7 * dayMs - 1;
  expect(await isKept(second)).toBe(true);
  clock.time += 1;
  expect(await isKept(second)).toBe(false);
  const deleted = app.entries.filter(({ event }) => event === 'skills.maintenance.complete').map((entry) => entry.deletedExecutions);
  expect(deleted).toEqual([1, 1]);
});
