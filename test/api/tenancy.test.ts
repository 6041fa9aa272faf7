import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listOperations } from '../../src/api/openapi-document.ts';
import { SCOPES, type Scope } from '../../src/api/principal.ts';
import type { JsonObject } from '../../src/json.ts';
import { makeApproval, makeExecution, makeSample, makeSkill, SAMPLES, sampleUpstream } from '../support/api-samples.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

/** Whatever an endpoint with an id in its path may be asked for that belongs to a key; the management alone may ask for the rest. */
const OWNED: Readonly<Record<string, (app: TestApp) => Promise<string>>> = {
  'get /api/skills/executions/{id}': makeExecution,
  'post /api/skills/approvals/{id}/approve': makeApproval,
  'post /api/skills/approvals/{id}/deny': makeApproval,
};

let app: TestApp;
let stranger: { id: string; key: string };
beforeAll(async () => {
  app = await createTestApp({ upstream: sampleUpstream });
  stranger = await app.createKey(SCOPES.filter((scope) => scope !== 'manage'));
});
afterAll(() => app.close());

const rest = () => listOperations(app.app.routes).filter(({ path }) => path.startsWith('/api/'));
const dump = async () => {
  const tables = await app.database.client.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  const rows = await Promise.all(tables.rows.map(({ name }) => app.database.client.execute(`SELECT * FROM ${name}`)));
  return JSON.stringify(rows.map((result) => result.rows));
};

describe('ids of another key', () => {
  it('are tried at every endpoint that takes one', () => {
    const withId = rest().filter(({ path, route }) => path.includes('{') && route.demand !== 'management' && route.demand !== undefined);
    expect(withId.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(OWNED).sort());
  });

  it.each(Object.keys(OWNED))('%s: answers 404, as for what is not there, and changes nothing', async (operation) => {
    const id = (await OWNED[operation]?.(app)) ?? '';
    const [method = '', path = ''] = operation.split(' ');
    const before = await dump();
    const ask = async (asked: string) => app.call(path.replace('{id}', asked), { method: method.toUpperCase(), as: stranger.key });
    const { status, body } = await ask(id);
    const none = await ask('11111111-1111-4111-8111-111111111111');
    expect([status, none.status]).toEqual([404, 404]);
    expect(JSON.stringify(body).replaceAll(id, 'ID')).toBe(
      JSON.stringify(none.body).replaceAll('11111111-1111-4111-8111-111111111111', 'ID'),
    );
    expect(await dump()).toBe(before);
    // The owner finds it.
    const owner = await app.call(path.replace('{id}', id), { method: method.toUpperCase(), as: app.key.key });
    expect(owner.status).toBe(200);
  });

  it.each(['/api/skills/executions', '/api/skills/approvals'])('%s shows nothing of it', async (path) => {
    await Promise.all([makeExecution(app), makeApproval(app)]);
    const owners = (await app.call(path, { as: app.key.key })).body;
    expect(owners.total).toBeGreaterThan(0);
    for (const query of ['', '?page=1&limit=200']) {
      const { status, body } = await app.call(path + query, { as: stranger.key });
      expect([status, body.data, body.total]).toEqual([200, [], 0]);
    }
  });

  it('a filter by it is refused', async () => {
    const { status, body } = await app.call(`/api/skills/executions?apiKeyId=${app.key.id}`, { as: stranger.key });
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('its skills cannot be run, by id or by name', async () => {
    const skillId = await makeSkill(app, { name: 'private', apiKeyId: app.key.id });
    for (const reference of [
      { skillId },
      { skillName: 'private' },
      { skillName: 'private@1.0.0' },
      { skillName: 'private@^1' },
      { skillName: skillId },
    ]) {
      const { status, body } = await app.call('/api/skills/executions', { as: stranger.key, json: { ...reference, input: { text: 'a' } } });
      expect([reference, status, body.code]).toEqual([reference, 404, 'skill_not_found']);
    }
  });

  it('its idempotency keys are nobody else’s', async () => {
    const json: JsonObject = { skillId: await makeSkill(app), input: { text: 'mine' } };
    const headers = { 'idempotency-key': 'same' };
    const first = await app.call('/api/skills/executions', { as: app.key.key, json, headers });
    const second = await app.call('/api/skills/executions', { as: stranger.key, json: { ...json, input: { text: 'theirs' } }, headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((second.body.execution as JsonObject).apiKeyId).toBe(stranger.id);
  });

  it('its approvals are not used in-band', async () => {
    const approval = await makeApproval(app);
    const before = await dump();
    const { status } = await app.call('/v1/chat/completions', {
      as: stranger.key,
      json: { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] },
      headers: { 'x-omniroute-approve': approval },
    });
    expect(status).toBe(404);
    expect(await dump()).toBe(before);
  });
});

describe('scopes', () => {
  it('are those of the design', () => {
    const demands = rest().map(({ method, path, route }) => [`${method} ${path}`, route.demand]);
    expect(Object.fromEntries(demands)).toMatchObject({
      'get /api/skills': 'management',
      'get /api/skills/{id}': 'management',
      'put /api/skills/{id}': 'management',
      'delete /api/skills/{id}': 'management',
      'post /api/skills/install': 'management',
      'get /api/skills/marketplace': 'read:skills',
      'post /api/skills/marketplace/install': 'write:skills',
      'get /api/skills/skillssh': 'read:skills',
      'post /api/skills/skillssh/install': 'write:skills',
      'get /api/skills/executions': 'read:skills',
      'get /api/skills/executions/{id}': 'read:skills',
      'post /api/skills/executions': 'execute:skills',
      'get /api/skills/approvals': 'read:skills',
      'post /api/skills/approvals/{id}/approve': 'execute:skills',
      'post /api/skills/approvals/{id}/deny': 'execute:skills',
      'get /api/settings': 'management',
      'put /api/settings': 'management',
      'get /api/keys': 'management',
      'post /api/keys': 'management',
      'delete /api/keys/{id}': 'management',
    });
  });

  it('every endpoint has a sample', () => {
    const without = rest().filter(({ method, path, route }) => route.demand !== undefined && SAMPLES[`${method} ${path}`] === undefined);
    expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it.each(Object.keys(SAMPLES).filter((operation) => operation.includes(' /api/')))(
    '%s: opens to its own scope and the management alone',
    async (operation) => {
      const demand = rest().find(({ method, path }) => `${method} ${path}` === operation)?.route.demand;
      expect(demand).toBeDefined();
      const opening: readonly Scope[] = demand === 'management' ? ['manage'] : [demand as Scope, 'manage'];
      const sample = await makeSample(app, operation);
      const before = await dump();
      expect((await app.call(sample.path, { ...sample, as: null })).status).toBe(401);
      expect((await app.call(sample.path, { ...sample, as: `omr_${'A'.repeat(43)}` })).status).toBe(401);
      const keys = await Promise.all(SCOPES.map(async (scope) => ({ scope, ...(await app.createKey([scope])) })));
      for (const { scope, key } of keys.filter((candidate) => !opening.includes(candidate.scope))) {
        const { status, body } = await app.call(sample.path, { ...sample, as: key });
        expect([scope, status, body.code]).toEqual([scope, 403, 'forbidden']);
      }
      for (const { id } of keys) await app.services.apiKeys.delete(id);
      expect(await dump()).toBe(before);
      const manager = await app.createKey(['manage']);
      expect((await app.call(sample.path, { ...sample, as: manager.key })).status).toBeLessThan(300);
    },
  );
});
