import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKeyRepository } from '../../src/db/api-key-repository.ts';
import { createRoutingMemoryRepository } from '../../src/db/routing-memory-repository.ts';
import { MAX_OUTCOMES_PER_KEY, type RoutingMemoryStore } from '../../src/routing-memory/routing-memory-store.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let memory: RoutingMemoryStore;
let keys: ReturnType<typeof createApiKeyRepository>;
beforeAll(async () => {
  database = await createTestDatabase();
  memory = createRoutingMemoryRepository(database.db);
  keys = createApiKeyRepository(database.db, { log: collectLog().log, newId: () => crypto.randomUUID(), now: () => new Date() });
});
afterAll(() => database.close());

const newKey = async () => (await keys.create({ name: 'k', scopes: ['chat'], routingMemory: true })).id;
const outcome = (digest: string[], createdAt = '2026-01-01T00:00:00.000Z') => ({
  ...{ provider: 'p', model: 'm', skills: ['s@1.0.0'], success: true, latencyMs: 1, inputTokens: 2, outputTokens: null },
  digest,
  createdAt,
});
const count = async (sql: string) => Number((await database.client.execute(sql)).rows[0]?.n);

it('finds what a key did by its words, the best match first', async () => {
  const key = await newKey();
  await memory.record(key, outcome(['contract', 'translate']));
  await memory.record(key, outcome(['contract', 'german', 'translate']));
  await memory.record(key, outcome(['tennis']));
  const { found, total } = await memory.search(key, ['german', 'translate'], 10);
  expect(total).toBe(3);
  expect(found).toEqual([outcome(['contract', 'german', 'translate']), outcome(['contract', 'translate'])]);
  expect((await memory.search(key, ['translate'], 1)).found).toHaveLength(1);
  expect(await memory.search(key, [], 10)).toEqual({ found: [], total: 3 });
});

it('finds nothing of another key, not even when that names it in its words', async () => {
  const [mine, theirs] = [await newKey(), await newKey()];
  await memory.record(theirs, outcome(['zebra', mine.slice(0, 8)]));
  expect(await memory.search(mine, ['zebra', theirs, mine.slice(0, 8)], 10)).toEqual({ found: [], total: 0 });
});

it.each([
  '"',
  '""',
  'a" OR "b',
  '*',
  'NEAR(',
  'api_key_id : "x"',
  ') OR (',
  '^',
  '-',
  '+',
  'a\0b',
  "'",
  'AND',
  'OR',
  'NOT',
  '{',
  '🔥',
  'é',
  '翻译',
  'x'.repeat(10_000),
])('searches for %j as for any text', async (word) => {
  const key = await newKey();
  await memory.record(key, outcome(['plain', 'words']));
  expect((await memory.search(key, [word], 10)).found).toEqual([]);
  expect((await memory.search(key, [word, 'plain'], 10)).found).toHaveLength(1);
});

it.each(['übersetzung', '翻译', 'दस्तावेज', 'สัญญา', 'été'])('finds %s', async (word) => {
  const key = await newKey();
  await memory.record(key, outcome([word]));
  expect((await memory.search(key, [word], 10)).found).toHaveLength(1);
});

it('records nothing of keys that do not want it or are gone', async () => {
  const { id } = await keys.create({ name: 'k', scopes: ['chat'] });
  await memory.record(id, outcome(['word']));
  await memory.record('gone', outcome(['word']));
  expect((await memory.search(id, ['word'], 10)).total).toBe(0);
  expect((await memory.search('gone', ['word'], 10)).total).toBe(0);
});

it('forgets a key that is deleted, or switched off, in the index too', async () => {
  const [deleted, off] = [await newKey(), await newKey()];
  for (const key of [deleted, off]) await memory.record(key, outcome(['unforgettable']));
  expect(await keys.delete(deleted)).toBe(true);
  expect(await keys.setRoutingMemory(off, false)).toMatchObject({ id: off, routingMemory: false });
  expect(await count(`SELECT count(*) AS n FROM routing_memory WHERE api_key_id IN ('${deleted}', '${off}')`)).toBe(0);
  expect(await count(`SELECT count(*) AS n FROM routing_memory_search WHERE routing_memory_search MATCH 'unforgettable'`)).toBe(0);
  expect(await keys.setRoutingMemory(deleted, true)).toBeUndefined();
});

it('keeps the newest of a key, within its bound', async () => {
  const key = await newKey();
  await database.client.execute({
    sql: `INSERT INTO routing_memory (api_key_id, provider, model, success, digest, created_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MAX_OUTCOMES_PER_KEY + 5})
      SELECT ?, 'p', 'm', 1, 'old', '2026-01-01T00:00:00.000Z' FROM numbers`,
    args: [key],
  });
  await memory.record(key, outcome(['newest']));
  expect((await memory.search(key, ['newest'], 10)).total).toBe(MAX_OUTCOMES_PER_KEY);
  expect((await memory.search(key, ['newest'], 10)).found).toHaveLength(1);
});

it('deletes what is old', async () => {
  const key = await newKey();
  await memory.record(key, outcome(['ancient'], '2020-01-01T00:00:00.000Z'));
  await memory.record(key, outcome(['recent'], '2026-05-01T00:00:00.000Z'));
  expect(await memory.deleteOlderThan(new Date('2021-01-01'))).toBe(1);
  expect((await memory.search(key, ['ancient', 'recent'], 10)).found.map(({ digest }) => digest)).toEqual([['recent']]);
});
