import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Stands before the database and holds what is asked while it is closed. */
function startGate(target: string) {
  const waiting: (() => void)[] = [];
  const gate = { closed: false, arrivals: 0, server: undefined as unknown as Server };
  const open = () => {
    gate.closed = false;
    for (const release of waiting.splice(0)) release();
  };
  gate.server = createServer(async (request, response) => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of request) chunks.push(chunk);
    gate.arrivals += 1;
    if (gate.closed) await new Promise<void>((resolve) => waiting.push(resolve));
    const body = new Blob(chunks);
    const answer = await fetch(target + request.url, { method: request.method ?? 'POST', body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  return Object.assign(gate, { open });
}

let database: TestDatabase;
let gate: ReturnType<typeof startGate>;
let worker: Miniflare;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = startGate(database.url);
  await new Promise<void>((resolve) => gate.server.listen(0, '127.0.0.1', resolve));
  const { port } = gate.server.address() as AddressInfo;
  const variables = { LIBSQL_URL: `http://127.0.0.1:${port}`, MANAGEMENT_TOKEN: 'token' };
  worker = await startWorker({ port: 0, variables, onCrash() {} });
  url = String(await worker.ready);
});
afterAll(async () => {
  await worker.dispose();
  await new Promise((resolve) => gate.server.close(resolve));
  await database.close();
});

async function createKey(): Promise<string> {
  const headers = { authorization: 'Bearer token' };
  const response = await fetch(`${url}api/keys`, { method: 'POST', headers, body: '{"name":"test"}' });
  return ((await response.json()) as { key: string }).key;
}

const list = (key: string, signal = AbortSignal.timeout(20_000)) =>
  fetch(`${url}api/skills/executions`, { headers: { authorization: `Bearer ${key}` }, signal }).then(({ status }) => status);

it('answers many requests at once, whose queries do not wait for each other', async () => {
  const key = await createKey();
  const statuses = await Promise.all(Array.from({ length: 100 }, () => list(key)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

it('answers those who share a load that a client began who has left', async () => {
  const key = await createKey();
  gate.closed = true;
  const before = gate.arrivals;
  const client = new AbortController();
  const first = list(key, client.signal).catch(() => 'left');
  await expect.poll(() => gate.arrivals, { timeout: 10_000 }).toBe(before + 1);
  client.abort();
  expect(await first).toBe('left');

  const others = [list(key), list(key)];
  // It is answered after the others have begun to wait, in the same isolate.
  expect((await fetch(`${url}api/nothing`)).status).toBe(404);
  expect(gate.arrivals).toBe(before + 1);
  gate.open();
  expect(await Promise.all(others)).toEqual([200, 200]);
  expect(await list(key)).toBe(200);
});
