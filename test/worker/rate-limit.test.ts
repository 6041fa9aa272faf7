import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Miniflare counts in periods of the clock, and one may end while a test sends. */
const LIMIT = 5;

let database: TestDatabase;
let worker: Miniflare;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const variables = { LIBSQL_URL: database.url, MANAGEMENT_TOKEN: 'token', RATE_LIMIT_PERIOD_SECONDS: '60' };
  worker = await startWorker({ port: 0, variables, rateLimit: LIMIT, onCrash() {} });
  url = String(await worker.ready);
});
afterAll(async () => {
  await worker?.dispose();
  await database?.close();
});

it('a key that has used up its requests reads 429 and when to come again', async () => {
  const create = { method: 'POST', headers: { authorization: 'Bearer token' }, body: '{"name":"test"}' };
  const { key } = (await (await fetch(`${url}api/keys`, create)).json()) as { key: string };
  const list = () => fetch(`${url}api/skills/executions`, { headers: { authorization: `Bearer ${key}` } });

  expect((await list()).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 2 * LIMIT }, list));
  const refused = answers.find(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(LIMIT - 1);
  expect([refused?.headers.get('retry-after'), await refused?.json()]).toEqual([
    '60',
    { error: 'Too many requests: try again in 60 seconds', code: 'rate_limited' },
  ]);
});
