import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handlers } from '../../src/handlers/index.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

const SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const valid = { name: 'weather', url: 'https://hooks.example.com/weather', secret: SECRET };

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

const create = (fields: JsonObject = {}) => app.call('/api/handlers', { json: { ...valid, ...fields } });
const created = async (fields: JsonObject = {}) => (await create(fields)).body.id as string;
const get = (id: string) => app.call(`/api/handlers/${id}`);
const put = (id: string, json: JsonObject) => app.call(`/api/handlers/${id}`, { method: 'PUT', json });
const remove = (id: string) => app.call(`/api/handlers/${encodeURIComponent(id)}`, { method: 'DELETE' });
const list = async (query = '') => (await app.call(`/api/handlers${query}`)).body as JsonObject & { data: JsonObject[]; total: number };
const install = (fields: JsonObject = {}) =>
  app.call('/api/skills/install', { json: { name: 'forecast', description: 'x', schema: {}, handlerCode: 'weather', ...fields } });
const pathOf = (body: JsonObject) => (body.details as { path: string }[])[0]?.path;

const BAD_URLS: [string, string][] = [
  ['', 'Use an absolute https URL'],
  ['hooks.example.com', 'Use an absolute https URL'],
  ['/weather', 'Use an absolute https URL'],
  ['http://hooks.example.com/', 'Use an absolute https URL'],
  ['ftp://hooks.example.com/', 'Use an absolute https URL'],
  ['javascript:alert(1)', 'Use an absolute https URL'],
  ['https://', 'Use an absolute https URL'],
  ['https://hooks.example.com:65536/', 'Use an absolute https URL'],
  ['https://me@hooks.example.com/', 'A URL must not hold a user name or password'],
  ['https://me:secret@hooks.example.com/', 'A URL must not hold a user name or password'],
  ['https://:secret@hooks.example.com/', 'A URL must not hold a user name or password'],
  ['https://127.0.0.1/', 'Blocked private or local URL'],
  ['https://2130706433/', 'Blocked private or local URL'],
  ['https://0x7f.1/', 'Blocked private or local URL'],
  ['https://10.1.2.3:8443/', 'Blocked private or local URL'],
  ['https://169.254.169.254/latest/meta-data', 'Blocked private or local URL'],
  ['https://[::1]/', 'Blocked private or local URL'],
  ['https://[::ffff:10.0.0.1]/', 'Blocked private or local URL'],
  ['https://localhost/', 'Blocked private or local URL'],
  ['https://LOCALHOST./', 'Blocked private or local URL'],
  ['https://intranet/', 'Blocked private or local URL'],
  ['https://db.internal/', 'Blocked private or local URL'],
  ['https://metadata.google.internal/', 'Blocked private or local URL'],
  [`https://hooks.example.com/${'a'.repeat(2_000)}`, 'Too big: expected string to have <=2000 characters'],
];

const BAD_FIELDS: [string, JsonValue][] = [
  ['url', null],
  ['url', 7],
  ['url', ['https://hooks.example.com/']],
  ['url', {}],
  ['secret', ''],
  ['secret', 's'.repeat(31)],
  ['secret', 's'.repeat(257)],
  ['secret', 's'.repeat(10_000)],
  ['secret', `${'s'.repeat(32)}\0`],
  ['secret', `${'s'.repeat(32)}\ud800`],
  ['secret', null],
  ['secret', 12_345_678],
  ['secret', [SECRET]],
  ['timeoutMs', 0],
  ['timeoutMs', -1],
  ['timeoutMs', 1.5],
  ['timeoutMs', 600_001],
  ['timeoutMs', 1e300],
  ['timeoutMs', '10'],
  ['timeoutMs', null],
  ['timeoutMs', true],
];

describe('POST /api/handlers', () => {
  it('registers a webhook and answers all but its secret', async () => {
    const { status, body } = await create();
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'weather',
        url: 'https://hooks.example.com/weather',
        timeoutMs: 10_000,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: body.createdAt,
      },
    ]);
    expect((await get(body.id as string)).body).toEqual(body);
  });

  it.each([
    ['https://hooks.example.com:8443/a?b=c#d', 'https://hooks.example.com:8443/a?b=c#d'],
    ['HTTPS://Hooks.Example.COM.:443', 'https://hooks.example.com/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://日本語.example/', 'https://xn--wgv71a119e.example/'],
    ['https://93.184.215.14/', 'https://93.184.215.14/'],
    ['https://[2606:2800:21f::1]/', 'https://[2606:2800:21f::1]/'],
    ['  https://hooks.example.com/  ', 'https://hooks.example.com/'],
  ])('keeps the URL %s as it will be asked', async (url, kept) => {
    expect((await create({ url })).body).toMatchObject({ url: kept });
  });

  it.each(BAD_URLS)('refuses the URL %j', async (url, message) => {
    const { status, body } = await create({ url });
    expect([status, body.code, body.error]).toEqual([400, 'invalid_request', `url: ${message}`]);
    expect((await list()).total).toBe(0);
  });

  it.each(BAD_FIELDS)('refuses a %s of %j, and does not repeat it', async (field, value) => {
    const { status, body } = await create({ [field]: value });
    expect([status, body.code, pathOf(body)]).toEqual([400, 'invalid_request', field]);
    if (typeof value === 'string' && value !== '') expect(JSON.stringify(body)).not.toContain(value);
  });

  it.each(['', '-x', 'a b', 'wörter', 'a/b', "x'; DROP TABLE webhooks; --", 'a'.repeat(101), 'a'.repeat(10_000), 'a\0', 7, null, ['a']])(
    'refuses the name %j',
    async (name) => {
      const { status, body } = await create({ name });
      expect([status, body.code, pathOf(body)]).toEqual([400, 'invalid_request', 'name']);
    },
  );

  it.each(['name', 'url', 'secret'])('needs %s', async (field) => {
    const { [field]: _, ...json } = valid as JsonObject;
    const { status, body } = await app.call('/api/handlers', { json });
    expect([status, pathOf(body)]).toEqual([400, field]);
  });

  it('refuses a name that a webhook or a handler of the release has', async () => {
    await create();
    expect(await create({ url: 'https://other.example.com/' })).toMatchObject({
      status: 409,
      body: { error: 'There is a webhook named weather', code: 'handler_exists' },
    });
    expect(await create({ name: 'reverse-text' })).toMatchObject({
      status: 409,
      body: { error: 'This release has a handler named reverse-text', code: 'handler_exists' },
    });
  });

  it('takes one of many that come at the same time with one name', async () => {
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await create()).status));
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });
});

describe('GET /api/handlers', () => {
  it('lists webhooks, page by page, and the handlers of the release', async () => {
    expect(await list()).toEqual({ data: [], total: 0, page: 1, limit: 50, totalPages: 0, compiledIn: [...handlers.keys()] });
    for (const name of ['b', 'a', 'c']) await create({ name });
    const { data, ...page } = await list('?page=2&limit=2');
    expect(data.map(({ name }) => name)).toEqual(['c']);
    expect(page).toMatchObject({ total: 3, page: 2, limit: 2, totalPages: 2 });
  });

  it.each(['page=0', 'limit=201', 'limit=x', 'secret=1'])('refuses ?%s', async (query) => {
    expect(await app.call(`/api/handlers?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

describe('PUT /api/handlers/:id', () => {
  it('changes what it names', async () => {
    const id = await created();
    const { status, body } = await put(id, { timeoutMs: 3_000, secret: 'n'.repeat(32) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name: 'weather', url: valid.url, timeoutMs: 3_000 });
    expect((await get(id)).body).toEqual(body);
    expect(await app.services.webhooks.findEndpoint('weather')).toEqual({ url: valid.url, secret: 'n'.repeat(32), timeoutMs: 3_000 });
  });

  it('needs something to change', async () => {
    expect(await put(await created(), {})).toMatchObject({ status: 400, body: { error: 'No update payload provided' } });
  });

  it('keeps the name, which skills hold on to', async () => {
    const { status, body } = await put(await created(), { name: 'other' });
    expect([status, body.error]).toEqual([400, 'Unrecognized key: "name"']);
  });

  it.each([...BAD_URLS.map(([url]): [string, JsonValue] => ['url', url]), ...BAD_FIELDS])('refuses a %s of %j', async (field, value) => {
    const id = await created();
    const before = await app.services.webhooks.findEndpoint('weather');
    const { status, body } = await put(id, { [field]: value });
    expect([status, body.code, pathOf(body)]).toEqual([400, 'invalid_request', field]);
    expect(await app.services.webhooks.findEndpoint('weather')).toEqual(before);
  });
});

describe('DELETE /api/handlers/:id', () => {
  it('takes the webhook away', async () => {
    const id = await created();
    expect(await remove(id)).toMatchObject({ status: 200, body: { success: true } });
    expect((await get(id)).status).toBe(404);
    expect((await create()).status).toBe(201);
  });

  it('answers 409 while skills name it', async () => {
    const id = await created();
    const skill = (await install()).body.id as string;
    expect(await remove(id)).toMatchObject({
      status: 409,
      body: {
        error: 'Skills still name this webhook: forecast@1.0.0',
        code: 'handler_in_use',
        details: [skill],
      },
    });
    await app.call(`/api/skills/${skill}`, { method: 'DELETE' });
    expect((await remove(id)).status).toBe(200);
  });
});

describe.each(['GET', 'PUT', 'DELETE'])('%s /api/handlers/:id', (method) => {
  it.each(['nope', "x' OR '1'='1", 'a'.repeat(10_000), '%00', 'weather'])('answers 404 to %j', async (id) => {
    await create();
    const options = method === 'PUT' ? { method, json: { timeoutMs: 5 } } : { method };
    const { status, body } = await app.call(`/api/handlers/${encodeURIComponent(id)}`, options);
    expect([status, body.code]).toEqual([404, 'handler_not_found']);
    expect((await list()).data).toMatchObject([{ name: 'weather', timeoutMs: 10_000 }]);
  });
});

describe('the handlers API', () => {
  it('is for the management alone', async () => {
    const id = await created();
    const requests: [string, string, JsonObject?][] = [
      ['GET', '/api/handlers'],
      ['POST', '/api/handlers', { ...valid, name: 'mine' }],
      ['GET', `/api/handlers/${id}`],
      ['PUT', `/api/handlers/${id}`, { timeoutMs: 5 }],
      ['DELETE', `/api/handlers/${id}`],
    ];
    for (const [method, path, json] of requests) {
      const options = json === undefined ? { method } : { method, json };
      expect((await app.call(path, { ...options, as: app.key.key })).status).toBe(403);
      expect((await app.call(path, { ...options, as: null })).status).toBe(401);
    }
    expect(await list()).toMatchObject({ total: 1, data: [{ timeoutMs: 10_000 }] });
  });

  it('shows and logs no secret, whatever is asked', async () => {
    const id = await created();
    const replies = [
      await get(id),
      await put(id, { secret: `${SECRET}!` }),
      await create(),
      await list(),
      await remove(id),
      await remove(id),
    ];
    expect(JSON.stringify(replies)).not.toContain(SECRET);
    expect(JSON.stringify(app.entries)).not.toContain(SECRET);
  });
});

describe('POST /api/skills/install', () => {
  it('takes the name of a webhook, and lists these with the others when it knows none of that name', async () => {
    expect(await install()).toMatchObject({ status: 400, body: { code: 'unknown_handler', details: [...handlers.keys()] } });
    await create();
    const { status, body } = await install();
    expect(status).toBe(201);
    expect((await app.call(`/api/skills/${body.id}`)).body).toMatchObject({ kind: 'handler', handler: 'weather' });
    expect(await install({ name: 'x', handlerCode: 'wether' })).toMatchObject({
      status: 400,
      body: {
        error: `No handler wether. Use one of: ${[...handlers.keys(), 'weather'].join(', ')}`,
        details: [...handlers.keys(), 'weather'],
      },
    });
  });
});
