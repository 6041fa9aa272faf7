import { afterEach, expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { createTestServer, resultOf } from '../support/sandbox-server.ts';

const variables = {
  SANDBOX_POOLS: JSON.stringify([
    { name: 'eu', urls: ['http://one.example', 'http://gone.example'], colos: ['FRA'], continents: ['EU'] },
    { name: 'us', urls: ['http://two.example'] },
  ]),
  SANDBOX_SECRET: 's'.repeat(32),
};
let app: TestApp;
afterEach(() => app.close());

async function open(options: TestAppOptions = {}): Promise<void> {
  const { app: host } = createTestServer(async ({ id }) => resultOf(id));
  const upstream = (request: Request) => {
    const { hostname, pathname } = new URL(request.url);
    if (hostname === 'gone.example') throw new TypeError('fetch failed');
    return host.request(pathname, request);
  };
  app = await createTestApp({ upstream, variables, ...options });
}

it('shows every host of every pool', async () => {
  await open();
  const { status, body, headers } = await app.call('/api/sandbox/pools');
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  const ready = { status: 'ready', hostId: 'in-process', running: 0, capacity: 4, warm: { ready: 1, making: 0, target: 2 } };
  expect(body).toMatchObject({
    pools: [
      {
        name: 'eu',
        colos: ['FRA'],
        continents: ['EU'],
        hosts: [
          { url: 'http://one.example', ...ready },
          { url: 'http://gone.example', status: 'unreachable', running: null },
        ],
      },
      { name: 'us', colos: [], continents: [], hosts: [{ url: 'http://two.example', ...ready }] },
    ],
  });
});

it('is empty without pools', async () => {
  await open({ variables: {} });
  expect(await app.call('/api/sandbox/pools')).toMatchObject({ status: 200, body: { pools: [] } });
});

it('is for the management alone', async () => {
  await open();
  expect(await app.call('/api/sandbox/pools', { as: null })).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  expect(await app.call('/api/sandbox/pools', { as: app.key.key })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  const manager = await app.createKey(['manage']);
  expect((await app.call('/api/sandbox/pools', { as: manager.key })).status).toBe(200);
});
