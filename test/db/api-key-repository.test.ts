import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiKeyRepository, createApiKeyRepository, hashApiKey, newApiKey } from '../../src/db/api-key-repository.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let keys: ApiKeyRepository;
let entries: Record<string, unknown>[];
beforeEach(async () => {
  const { log, entries: collected } = collectLog();
  entries = collected;
  database = await createTestDatabase();
  onTestFinished(() => database.close());
  let id = 0;
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  keys = createApiKeyRepository(database.db, { log, newId: () => `id-${++id}`, now: () => new Date(time++) });
});

describe('newApiKey and hashApiKey', () => {
  it('make keys of 256 random bits', () => {
    const made = Array.from({ length: 200 }, newApiKey);
    for (const key of made) {
      expect(key).toMatch(/^omr_[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(key.slice(4), 'base64url')).toHaveLength(32);
    }
    expect(new Set(made).size).toBe(made.length);
  });

  it('hash with SHA-256', async () => {
    expect(await hashApiKey('omr_x')).toBe(createHash('sha256').update('omr_x').digest('hex'));
  });
});

describe('createApiKeyRepository', () => {
  it('gives a key once and stores its digest only', async () => {
    const { key, ...created } = await keys.create({ name: 'CI', scopes: ['chat', 'read:skills'] });
    expect(created).toEqual({
      id: 'id-1',
      name: 'CI',
      scopes: ['chat', 'read:skills'],
      routingMemory: false,
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    const dump = JSON.stringify((await database.client.execute('SELECT * FROM api_keys')).rows);
    expect(dump).not.toContain(key.slice(4));
    expect(dump).toContain(await hashApiKey(key));
    expect(await keys.findByHash(await hashApiKey(key))).toEqual(created);
    expect(await keys.list()).toEqual([created]);
  });

  it('lists the oldest first, and finds none that is not there', async () => {
    await keys.create({ name: 'a', scopes: [] });
    await keys.create({ name: 'a', scopes: ['chat'] });
    expect((await keys.list()).map(({ id }) => id)).toEqual(['id-1', 'id-2']);
    expect(await keys.findByHash(await hashApiKey('omr_other'))).toBeUndefined();
  });

  it('deletes', async () => {
    const { id, key } = await keys.create({ name: 'a', scopes: [] });
    expect(await keys.delete(id)).toBe(true);
    expect(await keys.delete(id)).toBe(false);
    expect(await keys.findByHash(await hashApiKey(key))).toBeUndefined();
  });

  it.each(['{', '"chat"', '[1]'])('logs and leaves out a row with the scopes %s', async (scopes) => {
    const { key } = await keys.create({ name: 'bad', scopes: ['manage'] });
    await database.client.execute({ sql: 'UPDATE api_keys SET scopes = ?', args: [scopes] });
    const good = await keys.create({ name: 'good', scopes: [] });
    expect(await keys.findByHash(await hashApiKey(key))).toBeUndefined();
    expect((await keys.list()).map(({ id }) => id)).toEqual([good.id]);
    expect(entries[0]).toMatchObject({ level: 'warn', event: 'keys.bad_row', apiKeyId: 'id-1' });
    expect(JSON.stringify(entries)).not.toContain(key);
  });
});
