import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../dev/worker.ts';

/** A server of the machine itself, which answers DNS-over-HTTPS queries as well. */
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname !== '/dns-query') return response.end('inside');
  const isV4 = searchParams.get('type') === 'A';
  const Answer = isV4 ? [{ type: 1, data: '93.184.215.14' }] : [{ type: 28, data: '2606:2800:21f::1' }];
  response.setHeader('cache-control', 'max-age=300').end(JSON.stringify({ Status: 0, TC: false, Answer }));
  queries.push(request.url ?? '');
  return response;
});
const queries: string[] = [];

let worker: Miniflare;
let port: number;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  const variables = { DNS_OVER_HTTPS_URL: `http://127.0.0.1:${port}/dns-query` };
  worker = await startWorker({ port: 0, variables, entry: join(import.meta.dirname, 'fixtures/network-worker.ts'), onCrash() {} });
});
afterAll(async () => {
  await worker.dispose();
  await new Promise((resolve) => server.close(resolve));
});

async function ask(host: string): Promise<unknown> {
  const url = new URL(await worker.ready);
  url.searchParams.set('url', `http://${host}:${port}/`);
  url.searchParams.set('host', 'example.com');
  return (await fetch(url)).json();
}

describe('the network for what skills ask of the world', () => {
  // A name is judged by what it means when the connection is made, which is what DNS rebinding tries to get around.
  it.each(['127.0.0.1', 'localhost'])('does not lead to %s, although the worker itself gets there', async (host) => {
    expect(await ask(host)).toEqual({
      own: 'inside',
      publicNetwork: 'refused: Error',
      guard: 'refused: SkillError',
      addresses: ['93.184.215.14', '2606:2800:21f::1'],
    });
  });

  it('looks names up anew each time, whatever the resolver says about caching', async () => {
    const before = queries.length;
    await ask('localhost');
    await ask('localhost');
    expect(queries.length - before).toBe(4);
  });
});
