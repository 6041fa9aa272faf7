import { expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

async function withApp(options: TestAppOptions, test: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await createTestApp(options);
  try {
    await test(app);
  } finally {
    await app.close();
  }
}

const sandbox = { SANDBOX_POOLS: JSON.stringify([{ name: 'eu', urls: ['http://sandbox.example'] }]), SANDBOX_SECRET: 's'.repeat(32) };

it('is ok without a key and without a sandbox', () =>
  withApp({}, async (app) => {
    const { status, body } = await app.call('/healthz', { as: null });
    expect([status, body]).toEqual([200, { status: 'ok', database: 'ok', sandbox: 'not_configured' }]);
  }));

it('asks the sandbox-hosts', () =>
  withApp({ variables: sandbox, upstream: () => new Response('ok') }, async (app) => {
    const { status, body } = await app.call('/healthz', { as: null });
    expect([status, body]).toEqual([200, { status: 'ok', database: 'ok', sandbox: 'ok' }]);
  }));

it('is degraded when no sandbox-host is ready', () =>
  withApp({ variables: sandbox, upstream: () => new Response('', { status: 503 }) }, async (app) => {
    const { status, body } = await app.call('/healthz', { as: null });
    expect([status, body]).toEqual([200, { status: 'degraded', database: 'ok', sandbox: 'unavailable' }]);
  }));

it('answers 503 when the database is gone', async () => {
  const app = await createTestApp();
  await app.close();
  const { status, body } = await app.call('/healthz', { as: null });
  expect([status, body]).toEqual([503, { status: 'degraded', database: 'unavailable', sandbox: 'not_configured' }]);
});

it('answers 503 when the database has no tables', () =>
  withApp({}, async (app) => {
    await app.database.client.execute('ALTER TABLE skills RENAME TO elsewhere');
    const { status, body } = await app.call('/healthz', { as: null });
    expect([status, body.database]).toEqual([503, 'unavailable']);
  }));
