import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from './support/database.ts';

const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };

/** The worker of a fresh isolate. */
async function loadWorker() {
  vi.resetModules();
  return (await import('../src/index.ts')).default;
}

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('with a bad configuration', () => {
  const bindings = { LIBSQL_URL: 'hunter2', SKILLS_MAX_FILE_BYTES: 'many' };

  it.each(['/healthz', '/v1/chat/completions', '/api/skills', '/'])('answers 503 to %s and says what is wrong', async (path) => {
    const worker = await loadWorker();
    const response = await worker.fetch(new Request(`http://gateway${path}`), bindings, context);
    const body = (await response.json()) as { error: string; code: string };
    expect([response.status, body.code]).toEqual([503, 'bad_configuration']);
    expect(body.error).toContain('LIBSQL_URL');
    expect(body.error).toContain('SKILLS_MAX_FILE_BYTES');
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines).toMatchObject([{ level: 'error', event: 'configuration.bad', error: body.error }]);
  });

  it('does not fail its cron trigger without a word', async () => {
    const worker = await loadWorker();
    await worker.scheduled({}, bindings);
    expect(lines).toMatchObject([{ level: 'error', event: 'skills.maintenance.failed' }]);
  });
});

describe('with a database', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.close());

  it('answers requests', async () => {
    const worker = await loadWorker();
    const response = await worker.fetch(new Request('http://gateway/healthz'), { LIBSQL_URL: database.url }, context);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok', database: 'ok', sandbox: 'not_configured' }]);
  });

  it('stores the built-in skills and tidies up when the cron trigger fires', async () => {
    const worker = await loadWorker();
    const past = '2020-01-01T00:00:00.000Z';
    await database.client.execute({
      sql: 'INSERT INTO suspended_turns (id, api_key_id, transcript, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
      args: ['turn', 'key', '[]', past, past],
    });
    await worker.scheduled({}, { LIBSQL_URL: database.url });
    const { rows } = await database.client.execute("SELECT count(*) AS skills FROM skills WHERE kind = 'builtin'");
    expect(rows[0]?.skills).toBe(7);
    expect((await database.client.execute('SELECT id FROM suspended_turns')).rows).toEqual([]);
    expect(lines).toMatchObject([{ event: 'skills.maintenance.complete', deletedTurns: 1 }]);
  });

  it('logs that the database is gone', async () => {
    const worker = await loadWorker();
    const { url } = database;
    await database.close();
    await worker.scheduled({}, { LIBSQL_URL: url });
    expect(lines).toMatchObject([{ event: 'skills.maintenance.failed', error: { code: 'database_unavailable' } }]);
  });
});
