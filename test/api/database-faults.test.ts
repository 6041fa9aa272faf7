import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { makeSample, SAMPLES, sampleUpstream } from '../support/api-samples.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createFaultyDatabase, DATABASE_FAULTS, type DatabaseFault } from '../support/database-faults.ts';

/** No endpoint asks its database more often. */
const MAX_REQUESTS = 8;
/** The former two answer whatever the database does, the last asks the sandbox-hosts alone. */
const WITHOUT_DATABASE = ['get /openapi.json', 'get /healthz', 'get /api/sandbox/pools'];
const OPERATIONS = Object.keys(SAMPLES).filter((operation) => !WITHOUT_DATABASE.includes(operation));

const apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function start() {
  const faulty = createFaultyDatabase();
  const app = await createTestApp({ upstream: sampleUpstream, databaseFetch: faulty.fetch });
  apps.push(app);
  return { app, faulty };
}

/** What holds of the tables after whatever was asked of them. */
const INVARIANTS: Record<string, string> = {
  'an execution that has ended says when': `SELECT id FROM skill_executions WHERE (status IN ('success', 'error', 'timeout')) <> (finished_at IS NOT NULL)`,
  'one that has not has no output': `SELECT id FROM skill_executions WHERE status IN ('pending', 'running') AND output IS NOT NULL`,
  'one that runs has a lease, by which it ends': `SELECT id FROM skill_executions WHERE status = 'running' AND lease_expires_at IS NULL`,
  'an approval has its parked execution': `SELECT id FROM approvals WHERE status IN ('pending', 'approved') AND execution_id NOT IN (SELECT id FROM skill_executions)`,
  'what was denied does not wait': `SELECT id FROM approvals WHERE status = 'denied' AND execution_id IN (SELECT id FROM skill_executions WHERE status = 'pending')`,
  'what waits has an approval': `SELECT id FROM skill_executions WHERE status = 'pending' AND lease_expires_at IS NULL AND id NOT IN (SELECT execution_id FROM approvals)`,
  'mode and the older switch agree': `SELECT id FROM skills WHERE (mode = 'off') = (enabled = 1)`,
  'schemas and tags are whole': 'SELECT id FROM skills WHERE NOT json_valid(schema) OR NOT json_valid(tags)',
  'settings are whole': 'SELECT key FROM settings WHERE NOT json_valid(value)',
};

async function expectInvariants({ database }: TestApp, when: string): Promise<void> {
  for (const [invariant, query] of Object.entries(INVARIANTS)) {
    expect((await database.client.execute(query)).rows, `${invariant}: ${when}`).toEqual([]);
  }
}

/** The next request of a key has to ask the database for it. */
const forgetKeys = ({ services }: TestApp) => services.apiKeys.delete('none');

const unavailable = { error: 'The database cannot be reached', code: 'database_unavailable' };

describe.each(Object.keys(DATABASE_FAULTS) as DatabaseFault[])('a database that goes wrong: %s', (fault) => {
  it.each(OPERATIONS)('%s answers 503 or does without, and leaves nothing half-written', async (operation) => {
    const { app, faulty } = await start();
    let failures = 0;
    for (let nth = 1; nth <= MAX_REQUESTS; nth += 1) {
      const sample = await makeSample(app, operation);
      await forgetKeys(app);
      await app.settle();
      faulty.arm(nth, fault);
      const { status, body } = await app.call(sample.path, sample);
      await app.settle();
      const when = `request ${nth} to the database: ${fault}; answered ${status}`;
      if (status >= 400) expect([status, body], when).toEqual([503, unavailable]);
      failures += status === 503 ? 1 : 0;
      const reached = faulty.count() >= nth;
      faulty.arm(0, fault);
      await expectInvariants(app, when);
      if (!reached) return expect(failures).toBeGreaterThan(0);
    }
    throw new Error(`${operation} asks its database more than ${MAX_REQUESTS} times`);
  });
});

it('a settings change of several values is written whole or not at all', async () => {
  const { app, faulty } = await start();
  const before = (await app.call('/api/settings')).body;
  faulty.arm(1, 'second statement');
  const change = { method: 'PUT', json: { maxRounds: 7, autoMinScore: 4, autoMaxSkills: 2 } };
  expect((await app.call('/api/settings', change)).status).toBe(503);
  faulty.arm(0, 'refused');
  const { rows } = await app.database.client.execute('SELECT key FROM settings');
  expect([rows, (await app.call('/api/settings')).body]).toEqual([[], before]);
  expect((await app.call('/api/settings', change)).body).toMatchObject(change.json as JsonObject);
});

it('a database that is slow is waited for', async () => {
  const { app, faulty } = await start();
  for (const operation of OPERATIONS) {
    const sample = await makeSample(app, operation);
    await forgetKeys(app);
    faulty.slow(60);
    const { status } = await app.call(sample.path, sample);
    expect([operation, status < 400]).toEqual([operation, true]);
    faulty.slow(0);
  }
  await app.settle();
  await expectInvariants(app, 'slow');
});
