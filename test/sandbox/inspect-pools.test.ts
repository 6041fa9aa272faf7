import { expect, it } from 'vitest';
import { HostDirectory } from '../../src/sandbox/host-directory.ts';
import { inspectPools } from '../../src/sandbox/inspect-pools.ts';
import { createTestServer, resultOf } from '../support/sandbox-server.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const nothing = { hostId: null, running: null, waiting: null, capacity: null, warm: null, docker: null, missingImages: [], answerMs: null };
const unseen = { inFlight: 0, failures: 0, leftOutUntil: null, lastFailure: null };

function createDirectory(...names: string[]) {
  const pools = [{ name: 'eu', urls: names.map((name) => `http://${name}`), colos: ['FRA'], continents: ['EU'] }];
  return new HostDirectory({ pools, now: () => AT, random: () => 0 });
}

const inspect = async (directory: HostDirectory, answer: (path: string) => Response | Promise<Response>) => {
  const [pool] = await inspectPools(directory, {
    now: () => AT,
    fetch: async (url, { signal }) => abortable(answer(new URL(url).pathname), signal),
  });
  return pool?.hosts[0];
};

const abortable = (answer: Response | Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> =>
  Promise.race([
    Promise.resolve(answer),
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  ]);

it('tells what the server of a host says of itself', async () => {
  const { app, queue } = createTestServer(async ({ id }) => resultOf(id));
  await queue.acquire(new AbortController().signal);
  const host = await inspect(createDirectory('one'), (path) => app.request(path) as Promise<Response>);
  expect(host).toEqual({
    url: 'http://one',
    status: 'ready',
    hostId: 'in-process',
    running: 1,
    waiting: 0,
    capacity: 4,
    warm: { ready: 1, making: 0, target: 2 },
    docker: true,
    missingImages: [],
    answerMs: 0,
    seen: unseen,
  });
  queue.close();
  expect(await inspect(createDirectory('one'), (path) => app.request(path) as Promise<Response>)).toMatchObject({ status: 'draining' });
});

it('tells what a host misses', async () => {
  const { app } = createTestServer(async ({ id }) => resultOf(id), {
    readiness: async () => ({ ready: false, docker: true, missingImages: ['alpine:3.20'] }),
  });
  const host = await inspect(createDirectory('one'), (path) => app.request(path) as Promise<Response>);
  expect(host).toMatchObject({ status: 'not_ready', docker: true, missingImages: ['alpine:3.20'] });
});

it.each<[string, () => Response | Promise<Response>]>([
  ['does not answer', () => new Promise(() => undefined)],
  ['is not there', () => Promise.reject(new TypeError('fetch failed'))],
  ['is something else', () => new Response('<h1>Hello</h1>')],
  ['tells other fields', () => Response.json({ status: 'ok', running: 'many' })],
  ['is endless', () => new Response(`{"status":"ok"${' '.repeat(300_000)}}`)],
  ['leads elsewhere', () => new Response(null, { status: 302, headers: { location: 'http://elsewhere' } })],
])('says that a host is unreachable which %s', async (_, answer) => {
  expect(await inspect(createDirectory('one'), answer)).toEqual({ url: 'http://one', status: 'unreachable', ...nothing, seen: unseen });
});

it('tells what was seen of a host', async () => {
  const directory = createDirectory('one', 'two');
  const [one, two] = directory.candidates({});
  one?.reportFailure(AT - 3_000, 'draining');
  one?.reportFailure(AT - 1_000, 'unreachable');
  two?.reportFailure(AT - 10_000, 'not_ready');
  two?.reportSuccess();
  if (two) two.inFlight = 3;
  const [pool] = await inspectPools(directory, { now: () => AT, fetch: () => Promise.reject(new TypeError('fetch failed')) });
  expect(pool).toMatchObject({ name: 'eu', colos: ['FRA'], continents: ['EU'] });
  expect(pool?.hosts.map(({ seen }) => seen)).toEqual([
    {
      inFlight: 0,
      failures: 2,
      leftOutUntil: '2026-01-02T03:04:08.000Z',
      lastFailure: { at: '2026-01-02T03:04:04.000Z', reason: 'unreachable' },
    },
    { inFlight: 3, failures: 0, leftOutUntil: null, lastFailure: { at: '2026-01-02T03:03:55.000Z', reason: 'not_ready' } },
  ]);
});
