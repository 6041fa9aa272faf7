import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp, type TestAppOptions } from '../support/app.ts';

const UNKNOWN_KEY = `omr_${'A'.repeat(43)}`;
const ADDRESS = { 'cf-connecting-ip': '203.0.113.7' };

const apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** An app whose limiter allows so many requests of each name, and how often each name was counted. */
async function startLimited(limit: number, options: TestAppOptions = {}) {
  const counts: Record<string, number> = {};
  const rateLimiter = {
    async limit({ key }: { key: string }) {
      counts[key] = (counts[key] ?? 0) + 1;
      return { success: counts[key] <= limit };
    },
  };
  const app = await createTestApp({ rateLimiter, ...options });
  apps.push(app);
  return { app, counts };
}

const MESSAGE = 'Too many requests: try again in 10 seconds';

describe('the requests of a key', () => {
  it.each([
    ['GET', '/api/skills/executions', { error: MESSAGE, code: 'rate_limited' }],
    ['POST', '/v1/chat/completions', { error: { message: MESSAGE, type: 'invalid_request_error', param: null, code: 'rate_limited' } }],
    ['POST', '/v1/messages', { type: 'error', error: { type: 'rate_limit_error', message: MESSAGE } }],
    ['POST', '/v1/responses', { error: { message: MESSAGE, code: 'rate_limited' } }],
    ['POST', '/v1beta/models/m:generateContent', { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: MESSAGE } }],
    ['GET', '/v1/models', { error: { message: MESSAGE, code: 'rate_limited' } }],
  ])('%s %s: end at 429 with retry-after, in the shape of the endpoint', async (method, path, expected) => {
    const { app } = await startLimited(1, { upstream: () => Response.json({ choices: [] }) });
    const as = app.key.key;
    const json: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    const send = () => app.call(path, { method, as, ...(method === 'POST' && { json }) });
    expect((await send()).status).not.toBe(429);
    const { status, body, headers } = await send();
    expect([status, body]).toMatchObject([429, expected]);
    expect(headers.get('retry-after')).toBe('10');
  });

  it('are refused before anything is asked of a provider', async () => {
    let asked = 0;
    const upstream = () => {
      asked += 1;
      return Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] });
    };
    const { app } = await startLimited(1, { upstream });
    const send = () =>
      app.request('/v1/chat/completions', { as: app.key.key, json: { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] } });
    expect([(await send()).status, (await send()).status, asked]).toEqual([200, 429, 1]);
  });

  it('are counted for it alone', async () => {
    const { app, counts } = await startLimited(1);
    const other = await app.createKey();
    const list = async (as: string) => (await app.request('/api/skills/executions', { as })).status;
    expect([await list(app.key.key), await list(app.key.key), await list(other.key)]).toEqual([200, 429, 200]);
    expect(counts).toEqual({ [`key:${app.key.id}`]: 2, [`key:${other.id}`]: 1 });
  });

  it('are counted for one with the scope manage too', async () => {
    const { app } = await startLimited(1);
    const { key } = await app.createKey(['manage']);
    const list = async () => (await app.request('/api/keys', { as: key })).status;
    expect([await list(), await list()]).toEqual([200, 429]);
  });

  it('tell the period that is configured', async () => {
    const { app } = await startLimited(0, { variables: { RATE_LIMIT_PERIOD_SECONDS: '60' } });
    const { body, headers } = await app.call('/api/skills/executions', { as: app.key.key });
    expect([body.error, headers.get('retry-after')]).toEqual(['Too many requests: try again in 60 seconds', '60']);
  });
});

describe('attempts of an address', () => {
  it('end at 429 before the database is asked', async () => {
    const { app } = await startLimited(2);
    const attempt = (headers: Record<string, string>) => app.call('/api/skills/executions', { as: UNKNOWN_KEY, headers });
    expect([(await attempt(ADDRESS)).status, (await attempt(ADDRESS)).status]).toEqual([401, 401]);
    expect((await attempt({ 'cf-connecting-ip': '203.0.113.8' })).status).toBe(401);
    await app.database.close();
    const { status, body, headers } = await attempt(ADDRESS);
    expect([status, body, headers.get('retry-after')]).toEqual([429, { error: MESSAGE, code: 'rate_limited' }, '10']);
  });

  it('are counted for the management token, right or wrong', async () => {
    const { app, counts } = await startLimited(2);
    const list = async (as: string) => (await app.request('/api/keys', { as, headers: ADDRESS })).status;
    expect([await list('guess'), await list(MANAGEMENT_TOKEN), await list(MANAGEMENT_TOKEN)]).toEqual([401, 200, 429]);
    expect(counts).toEqual({ 'address:203.0.113.7': 3 });
  });

  it('do not count the requests of a key that was used a moment ago', async () => {
    const { app, counts } = await startLimited(9);
    const list = () => app.request('/api/skills/executions', { as: app.key.key, headers: ADDRESS });
    for (let round = 0; round < 3; round += 1) expect((await list()).status).toBe(200);
    expect(counts).toEqual({ 'address:203.0.113.7': 1, [`key:${app.key.id}`]: 3 });
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
  ])('%s and %s are of one household', async (first, second) => {
    const { app, counts } = await startLimited(9);
    for (const address of [first, second]) await app.request('/api/keys', { as: 'guess', headers: { 'cf-connecting-ip': address } });
    expect(Object.values(counts)).toEqual([2]);
  });

  it('are not counted without a credential', async () => {
    const { app, counts } = await startLimited(0);
    expect((await app.request('/api/keys', { as: null, headers: ADDRESS })).status).toBe(401);
    expect(counts).toEqual({});
  });
});

it('a limiter that fails stops nobody and is logged', async () => {
  const { app } = await startLimited(0, { rateLimiter: { limit: () => Promise.reject(new Error('gone')) } });
  expect((await app.request('/api/skills/executions', { as: app.key.key })).status).toBe(200);
  expect(app.entries.filter(({ event }) => event === 'rate_limit.failed')).toHaveLength(1);
});

it('the period that wrangler.toml binds is the one that is told', () => {
  const toml = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
  expect(toml).toMatch(/\[\[ratelimits\]\]\nname = "RATE_LIMITER"\nnamespace_id = "\d+"\nsimple = \{ limit = 500, period = 10 \}/);
});
