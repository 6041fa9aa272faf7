import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { createInternet, DNS_URL } from '../support/fake-internet.ts';

const PATH = '/api/skills/executions';

let app: TestApp;
let other: { id: string; key: string };
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createKey();
  await install({ name: 'echo' });
  await install({ name: 'echo', version: '1.2.0' });
  await install({ name: 'echo', version: '2.0.0' });
});
afterAll(() => app.close());

async function install(fields: JsonObject): Promise<string> {
  const json = { description: 'Answers its input', schema: { input: {}, output: {} }, handlerCode: 'echo-handler', ...fields };
  const { body } = await app.call('/api/skills/install', { json });
  return body.id as string;
}

const run = async (json: JsonObject, as = app.key.key, headers: Record<string, string> = {}) => {
  const { status, body } = await app.call(PATH, { json, as, headers });
  return { status, body, execution: (body.execution ?? {}) as JsonObject };
};
const list = async (query = '', as = app.key.key) => app.call(`${PATH}?${query}`, { as });
const idsOf = (body: JsonObject) => (body.data as JsonObject[]).map(({ id }) => id);

describe('POST /api/skills/executions', () => {
  it('runs a skill and answers its execution', async () => {
    const { status, body } = await run({ skillName: 'echo', input: { text: 'hé' }, sessionId: 'session 1' });
    expect([status, body]).toEqual([
      200,
      {
        execution: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          skillId: expect.any(String),
          skillName: 'echo',
          skillVersion: '2.0.0',
          apiKeyId: app.key.id,
          sessionId: 'session 1',
          requestId: expect.any(String),
          callId: 'rest',
          input: { text: 'hé' },
          output: { text: 'hé' },
          status: 'success',
          errorMessage: null,
          durationMs: expect.any(Number),
          attempts: 1,
          createdAt: expect.any(String),
          startedAt: expect.any(String),
          finishedAt: expect.any(String),
        },
      },
    ]);
  });

  it.each([
    ['echo', '2.0.0'],
    ['echo@1.0.0', '1.0.0'],
    ['echo@^1.0.0', '1.2.0'],
    ['echo@~1.0.0', '1.0.0'],
    ['echo@>=1.0.0 <2.0.0', '1.2.0'],
    ['echo@==1.2.0', '1.2.0'],
    ['echo@1.x', '1.2.0'],
    ['echo@latest', '2.0.0'],
    ['echo@*', '2.0.0'],
  ])('takes %s for version %s', async (skillName, version) => {
    expect((await run({ skillName })).execution).toMatchObject({ status: 'success', skillVersion: version });
  });

  it('takes an id, as skillId and as skillName', async () => {
    const skillId = await install({ name: 'by-id' });
    expect((await run({ skillId })).execution).toMatchObject({ status: 'success', skillId });
    expect((await run({ skillName: skillId })).execution).toMatchObject({ status: 'success', skillId });
  });

  it('answers 200 when the skill fails', async () => {
    const { status, execution } = await run({ skillName: 'file_read', input: { path: '../etc/passwd' } });
    expect([status, execution.status, execution.errorMessage]).toEqual([200, 'error', 'Skill file path escapes the skill workspace']);
  });

  it('answers 200 with the path when the input does not fit the schema', async () => {
    const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    await install({ name: 'strict', schema: { input, output: {} } });
    const { status, execution } = await run({ skillName: 'strict', input: { text: 5 } });
    expect([status, execution.status]).toEqual([200, 'error']);
    expect(execution.errorMessage).toContain('text');
  });

  it('answers 200 when there is no sandbox', async () => {
    const { status, execution } = await run({ skillName: 'eval_code', input: { code: '1' } });
    expect([status, execution.status, execution.errorMessage]).toEqual([200, 'error', 'No sandbox host is available']);
  });

  it('keeps each workspace to its key', async () => {
    await run({ skillName: 'file_write', input: { path: 'notes.txt', content: 'mine' } });
    expect((await run({ skillName: 'file_read', input: { path: 'notes.txt' } })).execution.output).toMatchObject({ content: 'mine' });
    const { execution } = await run({ skillName: 'file_read', input: { path: 'notes.txt' } }, other.key);
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'Skill file not found: notes.txt' });
  });

  it('holds a workspace to the quota of the settings', async () => {
    await app.services.settings.put({ workspaceMaxFiles: 0 });
    const { execution } = await run({ skillName: 'file_write', input: { path: 'more.txt', content: 'x' } });
    await app.services.settings.put({ workspaceMaxFiles: 1_000 });
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'Skill workspace is full: at most 0 files' });
  });

  it.each(['manual', 'hybrid'])('runs a skill with the policy %s, since somebody asked for it', async (policy) => {
    const id = await install({ name: `policy-${policy}` });
    await app.call(`/api/skills/${id}`, { method: 'PUT', json: { policy } });
    expect((await run({ skillName: `policy-${policy}` })).execution.status).toBe('success');
  });

  it('runs for the management, without an owner', async () => {
    expect((await run({ skillName: 'echo' }, MANAGEMENT_TOKEN)).execution).toMatchObject({ status: 'success', apiKeyId: 'anonymous' });
  });

  it('answers 404 to what is not there and what belongs to another key, and lets the management run that by its id', async () => {
    const skillId = await install({ name: 'private', apiKeyId: other.id });
    for (const json of [
      { skillId },
      { skillName: skillId },
      { skillName: 'private' },
      { skillName: 'private@1.0.0' },
      { skillName: 'echo@^3.0.0' },
      { skillName: 'echo@nonsense' },
      { skillName: 'nothing' },
      { skillId: 'echo' },
      { skillName: "x' OR '1'='1" },
    ]) {
      const { status, body } = await run(json);
      expect([json, status, body.code]).toEqual([json, 404, 'skill_not_found']);
    }
    expect((await run({ skillName: 'private' }, other.key)).status).toBe(200);
    expect((await run({ skillId }, MANAGEMENT_TOKEN)).status).toBe(200);
  });

  it('runs the own skill rather than the one of all', async () => {
    const skillId = await install({ name: 'echo', version: '2.0.0', apiKeyId: other.id });
    expect((await run({ skillName: 'echo' }, other.key)).execution.skillId).toBe(skillId);
    expect((await run({ skillName: 'echo' })).execution.skillId).not.toBe(skillId);
  });

  it('answers 409 when the skill is off, and runs it when it is on again', async () => {
    const id = await install({ name: 'switched' });
    expect((await run({ skillName: 'switched' })).status).toBe(200);
    await app.call(`/api/skills/${id}`, { method: 'PUT', json: { enabled: false } });
    const { status, body } = await run({ skillName: 'switched' });
    expect([status, body.code]).toEqual([409, 'skill_off']);
    await app.call(`/api/skills/${id}`, { method: 'PUT', json: { enabled: true } });
    expect((await run({ skillName: 'switched' })).status).toBe(200);
  });

  it('answers 409 when another isolate has switched it off a moment ago', async () => {
    const id = await install({ name: 'elsewhere' });
    expect((await run({ skillName: 'elsewhere' })).status).toBe(200);
    await app.database.client.execute({ sql: "UPDATE skills SET mode = 'off', enabled = 0 WHERE id = ?", args: [id] });
    expect((await run({ skillName: 'elsewhere' })).body.code).toBe('skill_off');
  });

  it('answers 503 while the master switch is off', async () => {
    await app.services.settings.put({ skillsEnabled: false });
    const { status, body } = await run({ skillName: 'echo' });
    await app.services.settings.put({ skillsEnabled: true });
    expect([status, body]).toEqual([
      503,
      { error: 'Skills execution is disabled. Enable Skills in Settings > AI.', code: 'skills_disabled' },
    ]);
  });

  it('runs once under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const call = { skillName: 'echo', input: { n: 1 } };
    const [first, second] = await Promise.all([run(call, app.key.key, headers), run(call, app.key.key, headers)]);
    const third = await run(call, app.key.key, headers);
    expect(second.execution.id).toBe(first.execution.id);
    expect(third.execution).toEqual(first.execution);
    expect(first.execution.requestId).toBe('order-1');
  });

  it('answers 409 to another input under the same Idempotency-Key, and keeps the keys of owners apart', async () => {
    const headers = { 'idempotency-key': 'order-2' };
    await run({ skillName: 'echo', input: { n: 1 } }, app.key.key, headers);
    const { status, body } = await run({ skillName: 'echo', input: { n: 2 } }, app.key.key, headers);
    expect([status, body.code]).toEqual([409, 'idempotency_conflict']);
    expect((await run({ skillName: 'echo', input: { n: 2 } }, other.key, headers)).status).toBe(200);
  });

  it.each(['', 'a b', 'ü', 'a'.repeat(256)])('refuses the Idempotency-Key %j', async (key) => {
    const { status, body } = await run({ skillName: 'echo' }, app.key.key, { 'idempotency-key': key });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it('ends and records an execution whose client leaves', async () => {
    const client = new AbortController();
    const hanging = createInternet({
      hosts: { 'slow.example': ['93.184.215.14'] },
      site: (request) => {
        client.abort();
        return new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        });
      },
    });
    const slow = await createTestApp({ upstream: hanging.fetch, variables: { DNS_OVER_HTTPS_URL: DNS_URL } });
    const json = { skillName: 'http_request', input: { url: 'http://slow.example/' } };
    await slow.request(PATH, { json, as: slow.key.key, signal: client.signal });
    await slow.settle();
    const { body } = await slow.call(PATH);
    await slow.close();
    expect(body.data).toMatchObject([{ status: 'error', errorMessage: expect.stringMatching(/cancel/i), attempts: 1 }]);
  });

  it.each([
    ['', {}],
    ['', { skillName: 'echo', skillId: 'echo' }],
    ['skillName', { skillName: '' }],
    ['skillName', { skillName: 5 }],
    ['skillName', { skillName: 'a'.repeat(10_000) }],
    ['skillName', { skillName: 'echo\0' }],
    ['skillId', { skillId: 'a'.repeat(201) }],
    ['input', { skillName: 'echo', input: 'text' }],
    ['input', { skillName: 'echo', input: [] }],
    ['input', { skillName: 'echo', input: null }],
    ['sessionId', { skillName: 'echo', sessionId: 5 }],
    ['sessionId', { skillName: 'echo', sessionId: '' }],
    ['sessionId', { skillName: 'echo', sessionId: 'a'.repeat(256) }],
    ['', { skillName: 'echo', apiKeyId: 'system' }],
  ] as [string, JsonValue][])('refuses a bad %s: %j', async (path, json) => {
    const { status, body } = await run(json as JsonObject);
    expect([status, body.code, (body.details as { path: string }[])[0]?.path]).toEqual([400, 'invalid_request', path]);
  });

  it.each([{ text: '🤷‍♀️ \u0000 \ud800' }, { 'a"b': [null, 1e308, { c: '' }] }])('keeps the input %j as it came', async (input) => {
    const { execution } = await run({ skillName: 'echo', input });
    expect(execution).toMatchObject({ input, output: input, status: 'success' });
    expect((await app.call(`${PATH}/${execution.id}`, { as: app.key.key })).body).toEqual(execution);
  });
});

describe('GET /api/skills/executions', () => {
  it('shows a key its own, newest first, and the management all', async () => {
    const mine = (await run({ skillName: 'echo' })).execution;
    const theirs = (await run({ skillName: 'echo' }, other.key)).execution;
    const own = await list('limit=200');
    expect(own.status).toBe(200);
    expect((own.body.data as JsonObject[]).every(({ apiKeyId }) => apiKeyId === app.key.id)).toBe(true);
    expect(idsOf(own.body)).toContain(mine.id);
    const times = (own.body.data as JsonObject[]).map(({ createdAt }) => createdAt as string);
    expect(times).toEqual([...times].sort().reverse());
    const all = await list('limit=200', MANAGEMENT_TOKEN);
    expect(idsOf(all.body)).toEqual(expect.arrayContaining([mine.id, theirs.id]));
    expect(idsOf((await list(`apiKeyId=${other.id}&limit=200`, MANAGEMENT_TOKEN)).body)).not.toContain(mine.id);
  });

  it('answers 403 to a key that asks for those of another, whether there is such a key or not', async () => {
    for (const id of [other.id, 'nobody', 'anonymous']) {
      const { status, body } = await list(`apiKeyId=${id}`);
      expect([status, body.code]).toEqual([403, 'forbidden']);
    }
    expect((await list(`apiKeyId=${app.key.id}`)).status).toBe(200);
  });

  it('filters by skill, status and time', async () => {
    const { execution } = await run({ skillName: 'file_read', input: { path: '/absolute' } });
    const skills = [execution.skillId, 'file_read', `file_read@${execution.skillVersion}`];
    for (const skill of skills) {
      const { body } = await list(`skill=${encodeURIComponent(String(skill))}&status=error&limit=200`);
      expect(idsOf(body)).toContain(execution.id);
      expect((body.data as JsonObject[]).every(({ skillName, status }) => skillName === 'file_read' && status === 'error')).toBe(true);
    }
    expect(idsOf((await list('status=success&limit=200')).body)).not.toContain(execution.id);
    const from = encodeURIComponent(execution.createdAt as string);
    expect(idsOf((await list(`from=${from}&limit=200`)).body)).toContain(execution.id);
    expect(idsOf((await list(`to=${from}&limit=200`)).body)).not.toContain(execution.id);
    expect((await list('from=2020-01-01T00:00:00%2B02:00&to=2020-01-01T00:00:00Z')).body.total).toBe(0);
  });

  it('leaves out inputs and outputs that are long', async () => {
    const text = 'a'.repeat(20_000);
    const { id } = (await run({ skillName: 'echo', input: { text } })).execution;
    const { body } = await list('limit=1');
    expect(body.data).toEqual([expect.objectContaining({ id, input: null, output: null, omitted: ['input', 'output'] })]);
    const { body: whole } = await app.call(`${PATH}/${id}`, { as: app.key.key });
    expect(whole.input).toEqual({ text });
  });

  it('pages', async () => {
    const { body: whole } = await list('limit=200');
    const { body } = await list('page=2&limit=3');
    expect(body).toEqual({
      data: (whole.data as JsonObject[]).slice(3, 6),
      total: whole.total,
      page: 2,
      limit: 3,
      totalPages: Math.ceil((whole.total as number) / 3),
    });
  });

  it.each([
    'page=0',
    'limit=201',
    'limit=ten',
    'status=done',
    'status=',
    'from=yesterday',
    'from=2026-13-01T00:00:00Z',
    'from=2026-01-01',
    'to=1',
    'skill=',
    `apiKeyId=${'a'.repeat(201)}`,
    'owner=x',
  ])('refuses ?%s', async (query) => {
    const { status, body } = await list(query);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it("takes SQL for text: ' OR '1'='1", async () => {
    const { status, body } = await list(`skill=${encodeURIComponent("' OR '1'='1")}`);
    expect([status, body.total]).toEqual([200, 0]);
  });
});

describe('GET /api/skills/executions/:id', () => {
  it('answers the execution to its key and to the management', async () => {
    const { execution } = await run({ skillName: 'echo', input: { a: 1 } });
    for (const as of [app.key.key, MANAGEMENT_TOKEN]) {
      expect(await app.call(`${PATH}/${execution.id}`, { as })).toMatchObject({ status: 200, body: execution });
    }
  });

  it('answers 404 to another key and to what is not there', async () => {
    const { execution } = await run({ skillName: 'echo' });
    for (const [id, as] of [
      [execution.id as string, other.key],
      ['nothing', app.key.key],
      ["' OR 1=1 --", MANAGEMENT_TOKEN],
      ['a'.repeat(10_000), MANAGEMENT_TOKEN],
    ] as const) {
      const { status, body } = await app.call(`${PATH}/${encodeURIComponent(id)}`, { as });
      expect([status, body.code]).toEqual([404, 'execution_not_found']);
    }
  });
});
