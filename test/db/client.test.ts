import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LibsqlError } from '@libsql/client/web';
import { eq } from 'drizzle-orm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isUniqueViolation, openClient, openDatabase } from '../../src/db/client.ts';
import { apiKeys } from '../../src/db/schema.ts';
import { createTestDatabase } from '../support/database.ts';

const key = (id: string) => ({
  id,
  name: 'secret name',
  keySha256: `sha-${id}`,
  scopes: ['chat'],
  createdAt: '2026-01-01T00:00:00.000Z',
  routingMemory: false,
});

async function open() {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  return database;
}

async function brokenServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const caught = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );

const UNAVAILABLE = { name: 'AppError', code: 'database_unavailable', message: 'The database cannot be reached' };

describe('openDatabase', () => {
  it('queries, writes and batches', async () => {
    const { db } = await open();
    await db.insert(apiKeys).values(key('a'));
    const [inserted, all] = await db.batch([db.insert(apiKeys).values(key('b')).returning(), db.select().from(apiKeys)]);
    expect(inserted).toEqual([key('b')]);
    expect(all).toEqual([key('a'), key('b')]);
    await db.transaction(async (transaction) => {
      await transaction.delete(apiKeys).where(eq(apiKeys.id, 'a'));
    });
    expect(await db.select().from(apiKeys)).toEqual([key('b')]);
  });

  it('sends the auth token', async () => {
    const seen: unknown[] = [];
    const url = await brokenServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    await caught(openDatabase({ url, authToken: 'token-1' }).select().from(apiKeys));
    expect(seen).toEqual(['Bearer token-1']);
  });

  it.each([
    ['a query', (db: ReturnType<typeof openDatabase>) => db.insert(apiKeys).values(key('a'))],
    ['a batch', (db: ReturnType<typeof openDatabase>) => db.batch([db.insert(apiKeys).values(key('a'))])],
    [
      'a transaction',
      (db: ReturnType<typeof openDatabase>) =>
        db.transaction(async (transaction) => {
          await transaction.insert(apiKeys).values(key('a'));
        }),
    ],
  ])('keeps a unique violation of %s recognisable, without the parameters', async (_, work) => {
    const { db } = await open();
    await db.insert(apiKeys).values(key('a'));
    const error = await caught(work(db));
    expect(error).toBeInstanceOf(LibsqlError);
    expect(isUniqueViolation(error)).toBe(true);
    expect(String(error)).not.toContain('secret name');
    expect(await db.select().from(apiKeys)).toHaveLength(1);
  });

  it('tells other faults of a statement from unique violations', async () => {
    const { db, client } = await open();
    const missing = await caught(db.insert(apiKeys).values({ ...key('a'), name: null as unknown as string }));
    expect(missing).toMatchObject({ code: 'SQLITE_CONSTRAINT_NOTNULL' });
    expect(isUniqueViolation(missing)).toBe(false);
    await client.execute('DROP TABLE api_keys');
    expect(await caught(db.select().from(apiKeys))).toMatchObject({ code: 'SQLITE_ERROR' });
  });

  it.each([
    ['refuses connections', undefined],
    ['answers 500', ((_, response) => response.writeHead(500).end('oops')) as RequestListener],
    ['answers 401', ((_, response) => response.writeHead(401).end()) as RequestListener],
    ['answers what is not JSON', ((_, response) => response.end('<html>')) as RequestListener],
    [
      'answers other JSON',
      ((_, response) => response.setHeader('content-type', 'application/json').end('{"results":[{}]}')) as RequestListener,
    ],
    ['closes the connection', ((request) => request.socket.destroy()) as RequestListener],
    [
      'closes in the middle of its answer',
      ((request, response) => response.write('{"re', () => request.socket.destroy())) as RequestListener,
    ],
  ])('says database_unavailable when the server %s', async (_, listener) => {
    const db = openDatabase({ url: listener === undefined ? 'http://127.0.0.1:1' : await brokenServer(listener) });
    expect(await caught(db.select().from(apiKeys))).toMatchObject(UNAVAILABLE);
    expect(await caught(db.batch([db.select().from(apiKeys)]))).toMatchObject(UNAVAILABLE);
    const transaction = db.transaction(async (tx) => {
      await tx.select().from(apiKeys);
    });
    expect(await caught(transaction)).toMatchObject(UNAVAILABLE);
  });

  it.each([
    ['never answers', (() => {}) as RequestListener],
    ['stops in the middle of its answer', ((_, response) => response.write('{"re')) as RequestListener],
  ])('gives up after 5 s on a server that %s', async (_, listener) => {
    const url = await brokenServer(listener);
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      expect(ms).toBe(5_000);
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException('late', 'TimeoutError')), 30);
      return controller.signal;
    });
    onTestFinished(() => timeout.mockRestore());
    expect(await caught(openDatabase({ url }).select().from(apiKeys))).toMatchObject({ ...UNAVAILABLE, cause: { name: 'TimeoutError' } });
  });

  it('works again when the database is back', async () => {
    const { url } = await open();
    let isDown = true;
    const db = openDatabase({ url, fetch: (...call) => (isDown ? Promise.reject(new TypeError('down')) : fetch(...call)) });
    expect(await caught(db.select().from(apiKeys))).toMatchObject(UNAVAILABLE);
    isDown = false;
    expect(await db.select().from(apiKeys)).toEqual([]);
  });

  it('says database_unavailable to a writer that finds the database locked', async () => {
    const { client, url } = await open();
    const stale = await openClient({ url }).transaction('deferred');
    await stale.execute('SELECT * FROM api_keys');
    await client.execute("INSERT INTO settings VALUES ('a', '1', '')");
    expect(await caught(stale.execute("INSERT INTO settings VALUES ('b', '1', '')"))).toMatchObject(UNAVAILABLE);
  });

  it('runs a batch that reads before it writes beside other writers', async () => {
    const { db } = await open();
    const readThenWrite = (id: string) => db.batch([db.select().from(apiKeys), db.insert(apiKeys).values(key(id))]);
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(readThenWrite));
    expect(await db.select().from(apiKeys)).toHaveLength(6);
  });
});
