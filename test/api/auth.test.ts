import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';

const MANAGEMENT_ENDPOINTS = [
  ['GET', '/api/skills'],
  ['GET', '/api/skills/x'],
  ['PUT', '/api/skills/x'],
  ['DELETE', '/api/skills/x'],
  ['POST', '/api/skills/install'],
  ['GET', '/api/settings'],
  ['PUT', '/api/settings'],
  ['GET', '/api/keys'],
  ['POST', '/api/keys'],
  ['DELETE', '/api/keys/x'],
] as const;

const SCOPED_ENDPOINTS = [
  ['GET', '/api/skills/executions', 'read:skills'],
  ['GET', '/api/skills/executions/x', 'read:skills'],
  ['POST', '/api/skills/executions', 'execute:skills'],
  ['POST', '/v1/chat/completions', 'chat'],
] as const;

const UNKNOWN_KEY = `omr_${'A'.repeat(43)}`;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const statusOf = async (method: string, path: string, as: string | null) => (await app.request(path, { method, as })).status;

describe.each(MANAGEMENT_ENDPOINTS)('%s %s', (method, path) => {
  it.each([
    ['nothing', null],
    ['an unknown key', UNKNOWN_KEY],
    ['a wrong token', `${MANAGEMENT_TOKEN}x`],
    ['the start of the token', MANAGEMENT_TOKEN.slice(0, -1)],
  ])('answers 401 to %s', async (_, as) => {
    const { status, body } = await app.call(path, { method, as });
    expect([status, body.code]).toEqual([401, 'unauthorized']);
  });

  it('answers 403 to a key without the scope manage', async () => {
    const { status, body } = await app.call(path, { method, as: app.key.key });
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('lets pass a key with the scope manage', async () => {
    const { key } = await app.createKey(['manage']);
    expect([401, 403]).not.toContain(await statusOf(method, path, key));
  });
});

describe.each(SCOPED_ENDPOINTS)('%s %s', (method, path, scope) => {
  it('answers 401 without a key and to an unknown one', async () => {
    expect([await statusOf(method, path, null), await statusOf(method, path, UNKNOWN_KEY)]).toEqual([401, 401]);
  });

  it(`needs the scope ${scope}`, async () => {
    const others = ['chat', 'read:skills', 'write:skills', 'execute:skills'].filter((other) => other !== scope);
    const without = await app.createKey(others);
    const only = await app.createKey([scope]);
    expect(await statusOf(method, path, without.key)).toBe(403);
    expect([401, 403]).not.toContain(await statusOf(method, path, only.key));
  });

  it('lets pass the management', async () => {
    expect([401, 403]).not.toContain(await statusOf(method, path, MANAGEMENT_TOKEN));
  });
});

describe('the credential', () => {
  const list = '/api/skills/executions';

  it.each([
    ['authorization', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['authorization, the scheme in any case', (key: string) => ({ authorization: `bearer  ${key}` })],
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
    ['x-goog-api-key', (key: string) => ({ 'x-goog-api-key': key })],
  ])('may come in %s', async (_, headersFor) => {
    expect((await app.request(list, { as: null, headers: headersFor(app.key.key) })).status).toBe(200);
  });

  it('may come in ?key=, which is no parameter of the endpoint', async () => {
    const { status } = await app.call(`${list}?key=${app.key.key}&limit=1`, { as: null });
    expect(status).toBe(200);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer a b', "Bearer ' OR 1=1 --"])('is not made of %j', async (authorization) => {
    expect((await app.request(list, { as: null, headers: { authorization } })).status).toBe(401);
  });
});

describe('without a management token', () => {
  let open: TestApp;
  beforeAll(async () => {
    open = await createTestApp({ variables: { MANAGEMENT_TOKEN: '' } });
  });
  afterAll(() => open.close());

  it.each(MANAGEMENT_ENDPOINTS)('%s %s answers 503 and says how to set one', async (method, path) => {
    for (const as of [null, '', open.key.key]) {
      const { status, body } = await open.call(path, { method, as });
      expect([status, body.code]).toEqual([503, 'management_not_configured']);
      expect(body.error).toContain('MANAGEMENT_TOKEN');
    }
  });

  it('API keys work', async () => {
    expect((await open.call('/api/skills/executions', { as: open.key.key })).status).toBe(200);
  });
});
