import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from '@libsql/client/web';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLibsqlServer } from '../../dev/libsql-server.ts';
import { applyMigrations, readMigrations, runMigrations } from '../../dev/migrate.ts';
import { findFreePort } from '../../dev/stack/ports.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';

async function emptyDatabase(options: { authToken?: string; streamExpiryMs?: number } = {}) {
  const server = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1', ...options });
  onTestFinished(() => server.close());
  return { url: server.url, client: createClient({ url: server.url }) };
}

const migrations = [
  { name: '0001_a.sql', sql: 'CREATE TABLE a (n); INSERT INTO a VALUES (1);' },
  { name: '0002_b.sql', sql: 'ALTER TABLE a ADD COLUMN m; UPDATE a SET m = n + 1;' },
];

describe('runMigrations', () => {
  it('applies what is missing, in order, once', async () => {
    const { client } = await emptyDatabase();
    expect(await runMigrations(client, migrations.slice(0, 1))).toEqual(['0001_a.sql']);
    expect(await runMigrations(client, migrations)).toEqual(['0002_b.sql']);
    expect(await runMigrations(client, migrations)).toEqual([]);
    expect((await client.execute('SELECT n, m FROM a')).rows[0]).toMatchObject({ n: 1, m: 2 });
    const { rows } = await client.execute('SELECT name, applied_at FROM schema_migrations ORDER BY name');
    expect(rows.map((row) => row.name)).toEqual(['0001_a.sql', '0002_b.sql']);
    expect(rows[0]?.applied_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('applies each once when several run at the same time', async () => {
    const { client } = await emptyDatabase();
    const applied = await Promise.all(Array.from({ length: 4 }, () => runMigrations(client, migrations)));
    expect(applied.flat().sort()).toEqual(['0001_a.sql', '0002_b.sql']);
    expect((await client.execute('SELECT count(*) AS n FROM a')).rows[0]?.n).toBe(1);
  });

  it('rolls a failing migration back as a whole and names it', async () => {
    const { client } = await emptyDatabase();
    const sql = 'CREATE TABLE c (n); ALTER TABLE a ADD COLUMN o; INSERT INTO a VALUES (5, 5, 5); INSERT INTO nowhere VALUES (1);';
    const broken = { name: '0003_c.sql', sql };
    await expect(runMigrations(client, [...migrations, broken])).rejects.toThrow('0003_c.sql: SQLITE_ERROR: no such table: nowhere');
    expect((await client.execute('SELECT * FROM a')).rows).toMatchObject([{ n: 1, m: 2 }]);
    expect((await client.execute('SELECT * FROM a')).columns).toEqual(['n', 'm']);
    await expect(client.execute('SELECT * FROM c')).rejects.toThrow('no such table: c');
    expect(await runMigrations(client, migrations)).toEqual([]);
  });

  it('leaves a database that a newer release has migrated as it is', async () => {
    const { client } = await emptyDatabase();
    await runMigrations(client, [{ name: '0009_later.sql', sql: 'CREATE TABLE later (n);' }]);
    await expect(runMigrations(client, migrations)).rejects.toThrow(
      'the tables are newer than this release, which does not know 0009_later.sql: use the release that made it, or a later one',
    );
    await expect(client.execute('SELECT * FROM a')).rejects.toThrow('no such table: a');
  });

  it('finds the files in the order of their numbers', () => {
    const names = readMigrations().map(({ name }) => name);
    expect(names[0]).toBe('0001_create_tables.sql');
    expect(names).toEqual(names.toSorted());
  });
});

describe('applyMigrations', () => {
  it('makes the tables and stores the built-in skills', async () => {
    const { url, client } = await emptyDatabase();
    expect(await applyMigrations({ url })).toEqual(readMigrations().map(({ name }) => name));
    const { rows } = await client.execute("SELECT name FROM skills WHERE api_key_id = 'system' AND kind = 'builtin' ORDER BY name");
    expect(rows.map((row) => row.name)).toEqual(builtinSkills.map(({ name }) => name).sort());
  });
});

describe('npm run migrate', () => {
  async function migrate(env: Record<string, string>) {
    const child = spawn(process.execPath, ['dev/migrate.ts'], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit') as Promise<[number]>]);
    return { code, stdout, stderr };
  }

  it('says what it did, and that there was nothing to do', async () => {
    const { url } = await emptyDatabase();
    const applied = `Applied ${readMigrations()
      .map(({ name }) => name)
      .join(', ')}\n`;
    expect(await migrate({ LIBSQL_URL: url })).toEqual({ code: 0, stdout: applied, stderr: '' });
    expect(await migrate({ LIBSQL_URL: url })).toEqual({ code: 0, stdout: 'The database is up to date\n', stderr: '' });
  });

  it('migrates once when several start at the same moment', async () => {
    const { url, client } = await emptyDatabase();
    const runs = await Promise.all([1, 2, 3].map(() => migrate({ LIBSQL_URL: url })));
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: '' }));
    const applied = runs.flatMap(({ stdout }) => stdout.match(/\d{4}_\w+\.sql/g) ?? []);
    expect(applied.toSorted()).toEqual(readMigrations().map(({ name }) => name));
    const { rows } = await client.execute('SELECT count(*) AS skills, count(DISTINCT name) AS names FROM skills');
    expect(rows[0]).toMatchObject({ skills: builtinSkills.length, names: builtinSkills.length });
  });

  it.each([
    [{}, 'Set LIBSQL_URL to the database, for example http://127.0.0.1:8888'],
    ...['file:secret.db', 'https://ann:secret@db.example'].map((LIBSQL_URL) => [
      { LIBSQL_URL },
      'LIBSQL_URL: use libsql://, https:// or http://, and LIBSQL_AUTH_TOKEN for the token',
    ]),
  ] as [Record<string, string>, string][])('says in one line what is wrong with %j', async (env, line) => {
    expect(await migrate(env)).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });

  it('says in one line that the database cannot be reached, and no token', async () => {
    const port = await findFreePort();
    const secrets = { LIBSQL_URL: `http://127.0.0.1:${port}/?authToken=secret-1`, LIBSQL_AUTH_TOKEN: 'secret-2' };
    const where = `the database at LIBSQL_URL (http://127.0.0.1:${port})`;
    const stderr = `${where} cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}\n`;
    expect(await migrate(secrets)).toEqual({ code: 1, stdout: '', stderr });
  });

  it.each([
    ['wrong', 'refuses LIBSQL_AUTH_TOKEN'],
    ['', 'asks for a token, and LIBSQL_AUTH_TOKEN is not set'],
  ])('says in one line that the token %j is not the right one', async (LIBSQL_AUTH_TOKEN, what) => {
    const { url } = await emptyDatabase({ authToken: 'right' });
    const stderr = `the database at LIBSQL_URL (${url}) ${what}: AUTH_INVALID: Missing or wrong auth token\n`;
    expect(await migrate({ LIBSQL_URL: url, LIBSQL_AUTH_TOKEN })).toEqual({ code: 1, stdout: '', stderr });
    expect(await migrate({ LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: 'right' })).toMatchObject({ code: 0 });
  });

  it('takes the status for it when a server says no more', async () => {
    const server = createServer((_, response) => response.writeHead(401).end()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await migrate({ LIBSQL_URL: `http://127.0.0.1:${port}`, LIBSQL_AUTH_TOKEN: 'wrong' });
    expect([code, stderr]).toEqual([
      1,
      `the database at LIBSQL_URL (http://127.0.0.1:${port}) refuses LIBSQL_AUTH_TOKEN: SERVER_ERROR: Server returned HTTP status 401\n`,
    ]);
  });

  it('says in one line that the database is newer', async () => {
    const { url, client } = await emptyDatabase();
    await migrate({ LIBSQL_URL: url });
    await client.execute("INSERT INTO schema_migrations VALUES ('9999_later.sql', '')");
    const stderr = `the database at LIBSQL_URL (${url}): the tables are newer than this release, which does not know 9999_later.sql: use the release that made it, or a later one\n`;
    expect(await migrate({ LIBSQL_URL: url })).toEqual({ code: 1, stdout: '', stderr });
  });

  it('leaves nothing half-done when it is killed in the middle, and the next one does all of it', async () => {
    const { url, client } = await emptyDatabase({ streamExpiryMs: 500 });
    const reached = Promise.withResolvers<void>();
    const gate = createServer(async (request, response) => {
      const body = await text(request);
      const answer = await fetch(url + request.url, { method: 'POST', body });
      if (body.includes('CREATE TABLE skills ')) return reached.resolve();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void gate.close());
    await once(gate, 'listening');
    const child = spawn(process.execPath, ['dev/migrate.ts'], {
      env: { PATH: process.env.PATH, LIBSQL_URL: `http://127.0.0.1:${(gate.address() as AddressInfo).port}` },
    });
    await reached.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await client.execute('SELECT name FROM schema_migrations')).rows).toEqual([]);
    await expect(client.execute('SELECT * FROM skills')).rejects.toThrow('no such table: skills');
    const { code, stderr } = await migrate({ LIBSQL_URL: url });
    expect([code, stderr]).toEqual([0, '']);
    expect((await client.execute('SELECT name FROM schema_migrations')).rows).toHaveLength(readMigrations().length);
  });
});
