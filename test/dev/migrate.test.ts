import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createClient } from '@libsql/client/web';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLibsqlServer } from '../../dev/libsql-server.ts';
import { applyMigrations, readMigrations, runMigrations } from '../../dev/migrate.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';

async function emptyDatabase() {
  const server = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1' });
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
    const broken = { name: '0003_c.sql', sql: 'INSERT INTO a VALUES (5, 5); INSERT INTO nowhere VALUES (1);' };
    await expect(runMigrations(client, [...migrations, broken])).rejects.toThrow('0003_c.sql: SQLITE_ERROR: no such table: nowhere');
    expect((await client.execute('SELECT count(*) AS n FROM a')).rows[0]?.n).toBe(1);
    expect(await runMigrations(client, migrations)).toEqual([]);
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

  it('says in one line what is wrong', async () => {
    expect(await migrate({})).toEqual({
      ...{ code: 1, stdout: '', stderr: 'Set LIBSQL_URL to the database, for example http://127.0.0.1:8888\n' },
    });
    const { code, stderr } = await migrate({ LIBSQL_URL: 'http://127.0.0.1:1' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^fetch failed: .+\n$/);
  });
});
