import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const create = (json: JsonObject) => app.call('/api/keys', { json });
const list = async () => (await app.call('/api/keys?limit=200')).body as { data: JsonObject[]; total: number };

describe('POST /api/keys', () => {
  it('answers the key, with the default scopes', async () => {
    const { status, body, headers } = await create({ name: ' laptop ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'laptop',
      scopes: ['chat', 'read:skills', 'execute:skills'],
      routingMemory: false,
      key: expect.stringMatching(/^omr_[A-Za-z0-9_-]{43}$/),
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('gives the scopes that were asked for, once each', async () => {
    const { body } = await create({ name: 'x', scopes: ['manage', 'chat', 'manage'] });
    expect(body.scopes).toEqual(['chat', 'manage']);
  });

  it.each(['Ключ 🔑', "'); DROP TABLE api_keys; --", 'a'.repeat(100)])('keeps the name %j', async (name) => {
    const { status, body } = await create({ name });
    expect(status).toBe(201);
    expect((await list()).data.find(({ id }) => id === body.id)?.name).toBe(name);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 1 }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'a'.repeat(101) }, 'name'],
    [{ name: 'a'.repeat(10_000) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'a\ud800' }, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: 'chat' }, 'scopes'],
    [{ name: 'x', scopes: ['root'] }, 'scopes.0'],
  ])('refuses %j', async (json, path) => {
    const { status, body } = await create(json);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect((body.details as { path: string }[])[0]?.path).toBe(path);
    expect(body.error).toMatch(new RegExp(`^${path}: `));
  });
});

describe('GET /api/keys', () => {
  it('never shows a key or its digest', async () => {
    const { body } = await create({ name: 'secret' });
    const shown = (await list()).data.find(({ id }) => id === body.id);
    expect(Object.keys(shown ?? {}).sort()).toEqual(['createdAt', 'id', 'name', 'routingMemory', 'scopes']);
  });

  it('pages', async () => {
    await create({ name: 'one more' });
    const { data, total } = await list();
    const { body } = await app.call('/api/keys?page=2&limit=1');
    expect(body).toEqual({ data: [data[1]], total, page: 2, limit: 1, totalPages: total });
  });

  it.each(['page=0', 'page=-1', 'page=1.5', 'page=x', 'limit=0', 'limit=201', 'limit=1&limit=2', 'limit=', 'sort=name', 'page=1e9'])(
    'refuses ?%s',
    async (query) => {
      const { status, body } = await app.call(`/api/keys?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
    },
  );
});

describe('DELETE /api/keys/:id', () => {
  it('ends the key at once, though it was used a moment ago', async () => {
    const { body } = await create({ name: 'short' });
    const as = body.key as string;
    expect((await app.call('/api/skills/executions', { as })).status).toBe(200);
    expect(await app.call(`/api/keys/${body.id}`, { method: 'DELETE' })).toMatchObject({ status: 200, body: { success: true } });
    expect((await app.call('/api/skills/executions', { as })).status).toBe(401);
    expect((await list()).data.map(({ id }) => id)).not.toContain(body.id);
  });

  it.each(['nope', "x' OR '1'='1", 'a'.repeat(10_000), '%00'])('answers 404 to %j', async (id) => {
    const before = (await list()).total;
    const { status, body } = await app.call(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
    expect([status, body.code]).toEqual([404, 'key_not_found']);
    expect((await list()).total).toBe(before);
  });
});
