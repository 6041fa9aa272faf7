import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type Client, createClient, LibsqlError } from '@libsql/client/web';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type LibsqlServer, type LibsqlServerOptions, startLibsqlServer } from '../../dev/libsql-server.ts';

async function start(options: Partial<LibsqlServerOptions> = {}): Promise<{ server: LibsqlServer; client: Client }> {
  const server = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1', ...options });
  onTestFinished(() => server.close());
  return { server, client: createClient({ url: server.url, intMode: 'bigint' }) };
}

async function startWithTable(options: Partial<LibsqlServerOptions> = {}) {
  const started = await start(options);
  await started.client.execute('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER CHECK (size > 0))');
  return started;
}

const names = async (client: Client): Promise<unknown[]> =>
  (await client.execute('SELECT name FROM items ORDER BY name')).rows.map((row) => row.name);

async function errorOf(work: Promise<unknown>): Promise<LibsqlError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LibsqlError);
  return error as LibsqlError;
}

const pipeline = (url: string, body: unknown, init: RequestInit = {}) =>
  fetch(`${url}/v3/pipeline`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });

/** The status of a version check whose Host header says `host`. */
const statusAs = (port: number, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/v2', headers: { host } }, (response) => resolve(response.resume().statusCode)).once(
      'error',
      reject,
    );
  });

describe('client operations', () => {
  it('executes statements with positional and named arguments', async () => {
    const { client } = await startWithTable();
    const inserted = await client.execute({ sql: 'INSERT INTO items (name, size) VALUES (?, ?)', args: ['a', 1] });
    expect(inserted).toMatchObject({ rowsAffected: 1, lastInsertRowid: 1n });
    const named = await client.execute({ sql: 'INSERT INTO items (name) VALUES (:name) RETURNING id, name', args: { name: 'b' } });
    expect(named).toMatchObject({ rowsAffected: 1, columns: ['id', 'name'], columnTypes: ['INTEGER', 'TEXT'] });
    expect(named.rows[0]).toMatchObject({ id: 2n, name: 'b' });
    expect((await client.execute('UPDATE items SET size = 3')).rowsAffected).toBe(2);
    expect(await client.execute('SELECT size FROM items')).toMatchObject({ rowsAffected: 0, lastInsertRowid: undefined });
  });

  it('keeps null, text, blobs, reals and 64-bit integers as they are', async () => {
    const { client } = await start();
    await client.execute('CREATE TABLE t (n, s, b, r, big)');
    const blob = Uint8Array.from({ length: 257 }, (_, index) => index % 256);
    await client.execute({ sql: 'INSERT INTO t VALUES (?, ?, ?, ?, ?)', args: [null, 'æ–é\n"', blob, 1.5, 9223372036854775807n] });
    const [row] = (await client.execute('SELECT n, s, b, r, big, typeof(big) AS type, zeroblob(0) AS empty FROM t')).rows;
    expect(row).toMatchObject({ n: null, s: 'æ–é\n"', r: 1.5, big: 9223372036854775807n, type: 'integer' });
    expect(new Uint8Array(row?.b as ArrayBuffer)).toEqual(blob);
    expect(row?.empty).toEqual(new ArrayBuffer(0));
    const exact = await client.execute({ sql: 'SELECT ? AS low', args: [-9223372036854775808n] });
    expect(exact.rows[0]?.low).toBe(-9223372036854775808n);
  });

  it('reports rowids exactly', async () => {
    const { client } = await startWithTable();
    const inserted = await client.execute("INSERT INTO items (id, name) VALUES (9007199254740993, 'a')");
    expect(inserted.lastInsertRowid).toBe(9007199254740993n);
  });

  it('runs a batch in one transaction', async () => {
    const { client } = await startWithTable();
    const insert = (name: string) => ({ sql: 'INSERT INTO items (name) VALUES (?)', args: [name] });
    const results = await client.batch([insert('a'), insert('b'), 'SELECT count(*) AS n FROM items'], 'write');
    expect(results[2]?.rows[0]?.n).toBe(2n);
  });

  it('rolls a batch back when a step fails', async () => {
    const { client } = await startWithTable();
    const error = await errorOf(client.batch(["INSERT INTO items (name) VALUES ('a')", "INSERT INTO items (name) VALUES ('a')"], 'write'));
    expect(error).toMatchObject({
      code: 'SQLITE_CONSTRAINT_UNIQUE',
      message: expect.stringContaining('UNIQUE constraint failed: items.name'),
    });
    expect(await names(client)).toEqual([]);
  });

  it('commits an interactive transaction, which others see only then', async () => {
    const { client } = await startWithTable();
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO items (name) VALUES ('a')");
    expect((await transaction.execute('SELECT count(*) AS n FROM items')).rows[0]?.n).toBe(1n);
    expect(await names(client)).toEqual([]);
    await transaction.commit();
    expect(await names(client)).toEqual(['a']);
  });

  it('rolls an interactive transaction back', async () => {
    const { client } = await startWithTable();
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO items (name) VALUES ('a')");
    await transaction.rollback();
    expect(await names(client)).toEqual([]);
  });

  it('keeps a transaction open when one of its statements fails', async () => {
    const { client } = await startWithTable();
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO items (name) VALUES ('a')");
    expect((await errorOf(transaction.execute("INSERT INTO items (name) VALUES ('a')"))).code).toContain('SQLITE_CONSTRAINT');
    await transaction.execute("INSERT INTO items (name) VALUES ('b')");
    await transaction.commit();
    expect(await names(client)).toEqual(['a', 'b']);
  });

  it('migrates without foreign keys and has them back afterwards', async () => {
    const { client } = await startWithTable();
    await client.execute('CREATE TABLE parts (item INTEGER NOT NULL REFERENCES items (id))');
    await client.migrate(['INSERT INTO parts VALUES (99)', 'ALTER TABLE parts ADD COLUMN note TEXT']);
    expect((await client.execute('SELECT item, note FROM parts')).rows[0]).toMatchObject({ item: 99n, note: null });
    expect((await errorOf(client.execute('INSERT INTO parts (item) VALUES (98)'))).code).toBe('SQLITE_CONSTRAINT_FOREIGNKEY');
  });

  it('executes many statements of one text, triggers among them', async () => {
    const { client } = await startWithTable();
    await client.executeMultiple(`
      INSERT INTO items (name) VALUES ('a;b'); -- a comment;
      CREATE TRIGGER double AFTER INSERT ON items WHEN new.size IS NULL BEGIN
        UPDATE items SET size = 1 WHERE id = new.id; UPDATE items SET size = 2 WHERE id = new.id;
      END;
      INSERT INTO items (name) VALUES ('c');`);
    expect((await client.execute("SELECT size FROM items WHERE name = 'c'")).rows[0]?.size).toBe(2n);
    await client.execute('CREATE TRIGGER other AFTER DELETE ON items BEGIN SELECT 1; SELECT 2; END');
  });

  it('explains, and commits what comes after', async () => {
    const { client } = await startWithTable();
    const explain = "EXPLAIN INSERT INTO items (name) VALUES ('a')";
    expect((await client.execute(explain)).rows.length).toBeGreaterThan(1);
    await client.execute("INSERT INTO items (name) VALUES ('b')");
    expect((await errorOf(client.batch([explain], 'write'))).code).toBe('EXPLAIN_IN_TRANSACTION');
    await client.execute("INSERT INTO items (name) VALUES ('c')");
    const reader = await client.transaction('read');
    expect((await reader.execute('SELECT count(*) AS n FROM items')).rows[0]?.n).toBe(2n);
    reader.close();
  });

  it('stops a text at its first failing statement', async () => {
    const { client } = await startWithTable();
    const text = "INSERT INTO items (name) VALUES ('a'); INSERT INTO nowhere VALUES (1); INSERT INTO items (name) VALUES ('b')";
    expect(await errorOf(client.executeMultiple(text))).toMatchObject({
      code: 'SQLITE_ERROR',
      message: expect.stringContaining('nowhere'),
    });
    expect(await names(client)).toEqual(['a']);
  });
});

describe('errors', () => {
  it.each([
    ["INSERT INTO items (id, name) VALUES (1, 'z')", 'SQLITE_CONSTRAINT_PRIMARYKEY'],
    ["INSERT INTO items (name) VALUES ('a')", 'SQLITE_CONSTRAINT_UNIQUE'],
    ['INSERT INTO items (name) VALUES (NULL)', 'SQLITE_CONSTRAINT_NOTNULL'],
    ["INSERT INTO items (name, size) VALUES ('b', 0)", 'SQLITE_CONSTRAINT_CHECK'],
    ['SELECT * FROM nowhere', 'SQLITE_ERROR'],
    ['SELEKT', 'SQLITE_ERROR'],
    ['SELECT 1; SELECT 2', 'SQL_MANY_STATEMENTS'],
    [' -- nothing', 'SQL_NO_STATEMENT'],
  ])('%s fails with %s', async (sql, code) => {
    const { client } = await startWithTable();
    await client.execute("INSERT INTO items (id, name) VALUES (1, 'a')");
    expect((await errorOf(client.execute(sql))).code).toBe(code);
    expect(await names(client)).toEqual(['a']);
  });

  it.each([
    ['{', 400, 'The body is not JSON'],
    [{ requests: [{ type: 'fly' }] }, 400, expect.stringContaining('requests.0.type')],
    [{ baton: 'unknown', requests: [] }, 400, 'The stream has expired or its baton was used already'],
  ])('%j is refused', async (body, status, message) => {
    const { server } = await start();
    const response = await pipeline(server.url, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ message });
  });

  it('refuses a value beyond 64 bits, and both kinds of arguments at once', async () => {
    const { server } = await start();
    const big = { type: 'integer', value: '9223372036854775808' };
    const execute = (stmt: object) => ({ type: 'execute', stmt });
    const response = await pipeline(server.url, {
      requests: [
        execute({ sql: 'SELECT ?', args: [big] }),
        execute({ sql: 'SELECT ?, :a', args: [{ type: 'null' }], named_args: [{ name: 'a', value: { type: 'null' } }] }),
        execute({ sql_id: 7 }),
        execute({}),
      ],
    });
    const { results } = (await response.json()) as { results: { error: { code: string } }[] };
    expect(results.map(({ error }) => error.code)).toEqual([
      'ARGS_INVALID',
      'ARGS_BOTH_POSITIONAL_AND_NAMED',
      'SQL_STORE_NOT_FOUND',
      'SQL_INPUT_ERROR',
    ]);
  });

  it('asks for the auth token when it has one', async () => {
    const { server, client } = await start({ authToken: 'secret' });
    expect((await errorOf(client.execute('SELECT 1'))).code).toBe('AUTH_INVALID');
    const allowed = createClient({ url: server.url, authToken: 'secret' });
    expect((await allowed.execute('SELECT 1 AS one')).rows[0]?.one).toBe(1);
  });

  it('refuses what a page in a browser sends, and runs none of it', async () => {
    const { server, client } = await startWithTable();
    const requests = [{ type: 'execute', stmt: { sql: 'DROP TABLE items' } }, { type: 'close' }];
    const response = await pipeline(server.url, { requests }, { headers: { 'content-type': 'text/plain', origin: 'http://a.example' } });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ message: 'Pages in a browser may not use this server', code: 'FORBIDDEN' });
    expect(await names(client)).toEqual([]);
  });

  it.each([
    ['127.0.0.1', 200],
    ['localhost', 200],
    ['LOCALHOST', 200],
    ['[::1]', 200],
    ['rebound.example', 403],
    ['127.0.0.1.rebound.example', 403],
  ])('asked as %s answers %i', async (name, status) => {
    const { server } = await start();
    expect(await statusAs(server.port, `${name}:${server.port}`)).toBe(status);
    expect(await statusAs(server.port, `${name}:1`)).toBe(403);
    expect(await statusAs(server.port, name)).toBe(403);
  });

  it('answers the version checks and nothing else', async () => {
    const { server } = await start();
    expect((await fetch(`${server.url}/v2`)).status).toBe(200);
    expect((await fetch(`${server.url}/v3`)).status).toBe(200);
    expect((await fetch(`${server.url}/v3-protobuf`)).status).toBe(404);
  });
});

describe('pipelines', () => {
  it('stores and closes texts, describes, and tells whether a transaction is open', async () => {
    const { server, client } = await startWithTable();
    const insert = 'INSERT INTO items (name, size) VALUES (:name, ?)';
    const response = await pipeline(server.url, {
      requests: [
        { type: 'store_sql', sql_id: 1, sql: insert },
        { type: 'describe', sql_id: 1 },
        { type: 'describe', sql: 'SELECT id, name AS title FROM items WHERE id = ?1' },
        { type: 'get_autocommit' },
        { type: 'execute', stmt: { sql: 'BEGIN' } },
        { type: 'get_autocommit' },
        { type: 'sequence', sql: 'ROLLBACK' },
        { type: 'close_sql', sql_id: 1 },
        { type: 'describe', sql_id: 1 },
        { type: 'close' },
        { type: 'get_autocommit' },
      ],
    });
    const { baton, results } = (await response.json()) as {
      baton: null;
      results: { response?: Record<string, unknown>; error?: object }[];
    };
    expect(baton).toBeNull();
    expect(results[1]?.response?.result).toEqual({
      params: [{ name: ':name' }, { name: null }],
      cols: [],
      is_explain: false,
      is_readonly: false,
    });
    expect(results[2]?.response?.result).toEqual({
      params: [{ name: '?1' }],
      cols: [
        { name: 'id', decltype: 'INTEGER' },
        { name: 'title', decltype: 'TEXT' },
      ],
      is_explain: false,
      is_readonly: true,
    });
    expect(results[3]?.response?.is_autocommit).toBe(true);
    expect(results[5]?.response?.is_autocommit).toBe(false);
    expect(results[8]?.error).toMatchObject({ code: 'SQL_STORE_NOT_FOUND' });
    expect(results[10]?.error).toMatchObject({ code: 'STREAM_CLOSED' });
    expect(await names(client)).toEqual([]);
  });

  it('runs the steps of a batch whose conditions hold', async () => {
    const { server } = await startWithTable();
    const step = (sql: string, condition?: object) => ({ stmt: { sql }, condition });
    const ok = { type: 'ok', step: 0 };
    const error = { type: 'error', step: 0 };
    const batch = {
      steps: [
        step('SELECT * FROM nowhere'),
        step('SELECT 1', ok),
        step('SELECT 2', error),
        step('SELECT 3', { type: 'not', cond: ok }),
        step('SELECT 4', { type: 'and', conds: [error, ok] }),
        step('SELECT 5', { type: 'or', conds: [error, ok] }),
        step('SELECT 6', { type: 'is_autocommit' }),
      ],
    };
    const response = await pipeline(server.url, { requests: [{ type: 'batch', batch }, { type: 'close' }] });
    const { results } = (await response.json()) as {
      results: [{ response: { result: { step_results: unknown[]; step_errors: unknown[] } } }];
    };
    const { step_results, step_errors } = results[0].response.result;
    expect(step_results.map((result) => result !== null)).toEqual([false, false, true, true, false, true, true]);
    expect(step_errors.map((result) => result !== null)).toEqual([true, false, false, false, false, false, false]);
  });

  it('takes each baton once', async () => {
    const { server } = await start();
    const first = (await (await pipeline(server.url, { requests: [] })).json()) as { baton: string };
    const second = (await (await pipeline(server.url, { baton: first.baton, requests: [] })).json()) as { baton: string };
    expect(second.baton).not.toBe(first.baton);
    expect((await pipeline(server.url, { baton: first.baton, requests: [] })).status).toBe(400);
    expect((await pipeline(server.url, { baton: second.baton, requests: [{ type: 'close' }] })).status).toBe(200);
  });
});

describe('two at once', () => {
  it('lets the second writer wait for the first', async () => {
    const { client } = await startWithTable();
    const first = await client.transaction('write');
    await first.execute("INSERT INTO items (name) VALUES ('a')");
    let finished = false;
    const second = (async () => {
      const transaction = await client.transaction('write');
      await transaction.execute("INSERT INTO items (name) SELECT 'b' || (SELECT count(*) FROM items WHERE name = 'a')");
      await transaction.commit();
      finished = true;
    })();
    const third = client.execute("INSERT INTO items (name) VALUES ('c')");
    expect(await names(client)).toEqual([]);
    expect(finished).toBe(false);
    await first.commit();
    await Promise.all([second, third]);
    expect(await names(client)).toEqual(['a', 'b1', 'c']);
  });

  it('loses none of many concurrent writes', async () => {
    const { client } = await startWithTable();
    await client.execute("INSERT INTO items (name, size) VALUES ('counter', 1)");
    const increment = async () => {
      const transaction = await client.transaction('write');
      const { rows } = await transaction.execute('SELECT size FROM items');
      await transaction.execute({ sql: 'UPDATE items SET size = ?', args: [(rows[0]?.size as bigint) + 1n] });
      await transaction.commit();
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await client.execute('SELECT size FROM items')).rows[0]?.size).toBe(21n);
  });

  it('gives up on a lock that is not released', async () => {
    const { client } = await startWithTable({ busyTimeoutMs: 50 });
    const first = await client.transaction('write');
    await first.execute("INSERT INTO items (name) VALUES ('a')");
    const error = await errorOf(client.execute("INSERT INTO items (name) VALUES ('b')"));
    expect(error).toMatchObject({ code: 'SQLITE_BUSY', message: expect.stringContaining('database is locked') });
    await first.commit();
    await client.execute("INSERT INTO items (name) VALUES ('c')");
    expect(await names(client)).toEqual(['a', 'c']);
  });

  it('refuses a write on top of a read that others have made stale, and goes on', async () => {
    const { client } = await startWithTable();
    const stale = await client.transaction('deferred');
    await stale.execute('SELECT * FROM items');
    await client.execute("INSERT INTO items (name) VALUES ('a')");
    expect((await errorOf(stale.execute("INSERT INTO items (name) VALUES ('b')"))).code).toBe('SQLITE_BUSY_SNAPSHOT');
    await stale.rollback();
    for (const name of ['c', 'd', 'e']) await client.execute({ sql: 'INSERT INTO items (name) VALUES (?)', args: [name] });
    expect(await names(client)).toEqual(['a', 'c', 'd', 'e']);
  });

  it('rolls an abandoned transaction back', async () => {
    const { client } = await startWithTable({ streamExpiryMs: 50 });
    const abandoned = await client.transaction('write');
    await abandoned.execute("INSERT INTO items (name) VALUES ('a')");
    await client.execute("INSERT INTO items (name) VALUES ('b')");
    expect((await errorOf(abandoned.execute('SELECT 1'))).code).toBe('STREAM_EXPIRED');
    expect(await names(client)).toEqual(['b']);
  });

  it('forgets a waiting request whose client has left', async () => {
    const { server, client } = await startWithTable();
    const first = await client.transaction('write');
    await first.execute("INSERT INTO items (name) VALUES ('a')");
    const leaving = new AbortController();
    const insert = { type: 'execute', stmt: { sql: "INSERT INTO items (name) VALUES ('left')" } };
    const waiting = pipeline(server.url, { requests: [insert] }, { signal: leaving.signal });
    const next = client.execute("INSERT INTO items (name) VALUES ('b')");
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await first.commit();
    await next;
    expect(await names(client)).toEqual(['a', 'b']);
  });

  it('keeps what one stream has set from the next', async () => {
    const { client } = await startWithTable();
    await client.executeMultiple('PRAGMA foreign_keys = OFF; CREATE TEMP TABLE scratch (a)');
    expect((await client.execute('PRAGMA foreign_keys')).rows[0]?.foreign_keys).toBe(1n);
    expect((await errorOf(client.execute('SELECT * FROM scratch'))).message).toContain('no such table');
  });
});

describe('as a process', () => {
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'omniroute-test-'));
    folders.push(folder);
    return folder;
  }

  async function run(env: Record<string, string>) {
    const child = spawn(process.execPath, ['dev/libsql-server.ts'], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.push(child);
    const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
    const stderr = text(child.stderr);
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([once(lines, 'line'), exit.then(() => [''])])) as [string];
    return { child, exit, url: /http:\S+\d/.exec(line)?.[0] ?? '', stderr };
  }

  it('keeps every acknowledged write when it is killed in the middle of writing', async () => {
    const DATA_DIR = join(newFolder(), 'data');
    const first = await run({ LIBSQL_PORT: '0', DATA_DIR });
    const client = createClient({ url: first.url });
    await client.execute('CREATE TABLE t (n INTEGER PRIMARY KEY)');
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        await client.batch([`INSERT INTO t VALUES (${acknowledged * 2})`, `INSERT INTO t VALUES (${acknowledged * 2 + 1})`], 'write');
        acknowledged += 1;
        if (acknowledged === 25) first.child.kill('SIGKILL');
      }
    })();
    await expect(writing).rejects.toThrow();
    await first.exit;
    const second = await run({ LIBSQL_PORT: '0', DATA_DIR });
    const { rows } = await createClient({ url: second.url }).execute('SELECT count(*) AS n, max(n) AS top FROM t');
    expect(rows[0]?.n).toBeGreaterThanOrEqual(acknowledged * 2);
    expect(Number(rows[0]?.n) % 2).toBe(0);
    expect(rows[0]?.top).toBe(Number(rows[0]?.n) - 1);
    expect(existsSync(join(DATA_DIR, 'omniroute.db'))).toBe(true);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s', async (signal) => {
    const { child, exit, url } = await run({ LIBSQL_PORT: '0', DATA_DIR: newFolder() });
    const transaction = await createClient({ url }).transaction('write');
    await transaction.execute('CREATE TABLE t (a)');
    child.kill(signal);
    expect(await exit).toEqual([0, null]);
  });

  it('stops when its stdin ends', async () => {
    const { child, exit } = await run({ LIBSQL_PORT: '0', DATA_DIR: newFolder() });
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
  });

  it('says in one line that its port is taken, or is none', async () => {
    const DATA_DIR = newFolder();
    const { url } = await run({ LIBSQL_PORT: '0', DATA_DIR });
    const { port } = new URL(url);
    const taken = await run({ LIBSQL_PORT: port, DATA_DIR: newFolder() });
    expect(await taken.exit).toEqual([1, null]);
    expect(await taken.stderr).toBe(`Port ${port} is taken; set LIBSQL_PORT to another\n`);
    const none = await run({ LIBSQL_PORT: 'http', DATA_DIR });
    expect(await none.exit).toEqual([1, null]);
    expect(await none.stderr).toBe('LIBSQL_PORT must be a port number, not "http"\n');
  });
});
