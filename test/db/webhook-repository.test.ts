import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skills } from '../../src/db/schema.ts';
import { createWebhookRepository } from '../../src/db/webhook-repository.ts';
import type { WebhookStore } from '../../src/webhooks/webhook-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';

const CREATED = '2026-11-30T12:00:00.000Z';
const LATER = new Date('2026-12-01T12:00:00.000Z');
const SECRET = 's'.repeat(32);

let database: TestDatabase;
let webhooks: WebhookStore;
beforeEach(async () => {
  database = await createTestDatabase();
  webhooks = createWebhookRepository(database.db);
});
afterEach(() => database.close());

const shown = (id: string, name = id) => ({
  ...{ id, name, url: `https://hooks.example.com/${id}`, timeoutMs: 5_000 },
  ...{ createdAt: CREATED, updatedAt: CREATED },
});
const insert = (id: string, name = id) => webhooks.insert({ ...shown(id, name), secret: SECRET });
const insertSkill = (fields: Parameters<typeof makeSkill>[0]) =>
  database.db.insert(skills).values({ ...makeSkill(fields), modeWhenEnabled: 'on' });

describe('webhooks in the database', () => {
  it('are given back without their secrets, but for a call', async () => {
    await insert('weather');
    expect(await webhooks.get('weather')).toEqual(shown('weather'));
    expect(await webhooks.listPage(1, 10)).toEqual({ data: [shown('weather')], total: 1 });
    expect(await webhooks.findEndpoint('weather')).toEqual({
      url: 'https://hooks.example.com/weather',
      secret: SECRET,
      timeoutMs: 5_000,
    });
  });

  it('are listed by name, page by page', async () => {
    for (const name of ['c', 'a', 'b']) await insert(`id-${name}`, name);
    const page = async (number: number) => (await webhooks.listPage(number, 2)).data.map(({ name }) => name);
    expect([await page(1), await page(2), await page(3)]).toEqual([['a', 'b'], ['c'], []]);
    expect(await webhooks.listNames()).toEqual(['a', 'b', 'c']);
  });

  it('have a name each', async () => {
    await insert('one', 'weather');
    await expect(insert('two', 'weather')).rejects.toMatchObject({ code: 'handler_exists', message: 'There is a webhook named weather' });
    expect((await webhooks.listPage(1, 10)).total).toBe(1);
  });

  it.each(['url', 'secret', 'timeoutMs'] as const)('change %s alone', async (field) => {
    await insert('weather');
    const before = await webhooks.findEndpoint('weather');
    const value = field === 'timeoutMs' ? 7 : 'https://new.example.com/'.padEnd(32, 'x');
    const changed = await webhooks.update('weather', { [field]: value }, LATER);
    expect(changed).toEqual({ ...shown('weather'), updatedAt: LATER.toISOString(), ...(field !== 'secret' && { [field]: value }) });
    expect(await webhooks.findEndpoint('weather')).toEqual({ ...before, [field]: value });
  });

  it('are not there when nobody made them', async () => {
    expect(await webhooks.get('x')).toBeUndefined();
    expect(await webhooks.findEndpoint('x')).toBeUndefined();
    expect(await webhooks.update('x', { timeoutMs: 1 }, LATER)).toBeUndefined();
    expect(await webhooks.delete('x')).toBe(false);
  });

  it('go, but not while skills name them', async () => {
    await insert('id-1', 'weather');
    await insert('id-2', 'other');
    await insertSkill({ id: 'b', name: 'forecast', version: '1.1.0', handler: 'weather' });
    await insertSkill({ id: 'a', name: 'forecast', version: '1.0.0', handler: 'weather', apiKeyId: 'key-1' });
    // Not a handler's name, however it reads.
    await insertSkill({ id: 'c', name: 'other', kind: 'instructions', handler: 'other' });
    await expect(webhooks.delete('id-1')).rejects.toMatchObject({
      code: 'handler_in_use',
      message: 'Skills still name this webhook: forecast@1.0.0 and 1 more',
      details: ['a', 'b'],
    });
    expect(await webhooks.get('id-1')).toBeDefined();
    expect(await webhooks.delete('id-2')).toBe(true);
    await database.client.execute('DELETE FROM skills');
    expect(await webhooks.delete('id-1')).toBe(true);
    expect(await webhooks.listNames()).toEqual([]);
  });

  it('cannot be asked for while the database is away, and no error holds a secret', async () => {
    await insert('weather');
    const duplicate = insert('weather');
    await expect(duplicate).rejects.toThrow();
    expect(JSON.stringify(await duplicate.catch((error) => [error.message, error.stack, error.cause]))).not.toContain(SECRET);
    await database.close();
    await expect(webhooks.findEndpoint('weather')).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(insert('another')).rejects.toMatchObject({ code: 'database_unavailable' });
  });
});
