import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handlers } from '../../src/handlers/index.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

interface Listed {
  data: JsonObject[];
  total: number;
}

const valid = {
  name: 'shout',
  description: 'Says it louder',
  schema: { input: { type: 'object', properties: { text: { type: 'string' } } }, output: { type: 'object' } },
  handlerCode: 'echo-handler',
};
const install = (fields: JsonObject = {}) => app.call('/api/skills/install', { json: { ...valid, ...fields } });
const installed = async (fields: JsonObject) => (await install(fields)).body.id as string;
const get = async (id: string) => (await app.call(`/api/skills/${id}`)).body;
const put = (id: string, json: JsonObject) => app.call(`/api/skills/${id}`, { method: 'PUT', json });
const list = async (query = '') => (await app.call(`/api/skills?limit=200&${query}`)).body as JsonObject & Listed;
const idOfBuiltin = async (name: string) => (await list('source=builtin')).data.find((skill) => skill.name === name)?.id as string;

describe('POST /api/skills/install', () => {
  it('installs a skill for everybody', async () => {
    const { status, body } = await install({ name: 'install.one' });
    expect([status, body]).toEqual([201, { success: true, id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    expect(await get(body.id as string)).toEqual({
      id: body.id,
      apiKeyId: 'system',
      name: 'install.one',
      version: '1.0.0',
      description: 'Says it louder',
      schema: valid.schema,
      handler: 'echo-handler',
      kind: 'handler',
      enabled: true,
      mode: 'on',
      policy: 'auto',
      sourceProvider: 'local',
      sourceUrl: null,
      contentSha256: null,
      tags: [],
      installCount: 0,
      timeoutMs: null,
      maxRetries: null,
      idempotent: false,
      riskFindings: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
    });
  });

  it('installs for one key, with tags and a mode', async () => {
    const { id: apiKeyId } = app.key;
    const id = await installed({ name: 'install.two', version: '2.10.0', apiKeyId, tags: ['天気', 'a b'], mode: 'off' });
    expect(await get(id)).toMatchObject({ apiKeyId, version: '2.10.0', tags: ['天気', 'a b'], mode: 'off', enabled: false });
  });

  it('expands the shorthand of schemas', async () => {
    const id = await installed({ name: 'install.short', schema: { input: { text: 'string' }, output: { echoed: 'string' } } });
    expect((await get(id)).schema).toMatchObject({
      input: { type: 'object', properties: { text: { type: 'string' } } },
      output: { type: 'object', properties: { echoed: { type: 'string' } } },
    });
  });

  it('installs instructions instead of a handler', async () => {
    const { handlerCode: _, ...rest } = valid;
    const { status, body } = await app.call('/api/skills/install', { json: { ...rest, name: 'install.text', instructions: ' # Do it\n' } });
    expect(status).toBe(201);
    expect(await get(body.id as string)).toMatchObject({
      kind: 'instructions',
      handler: '# Do it',
      sourceProvider: 'local',
      policy: 'auto',
    });
  });

  it.each([
    ['handlerCode', { instructions: '# Do it' }],
    ['instructions', { instructions: ' ' }],
    ['instructions', { instructions: 'a\0' }],
    ['instructions', { instructions: 'a'.repeat(262_145) }],
    ['instructions', { instructions: 7 }],
    ['instructions', { instructions: null }],
    ['idempotent', { idempotent: 'true' }],
    ['idempotent', { idempotent: null }],
  ] as [string, JsonObject][])('refuses a bad %s beside a handler: %.60j', async (path, fields) => {
    const { status, body } = await install({ name: 'install.both', ...fields });
    expect([status, (body.details as { path: string }[])[0]?.path]).toEqual([400, path]);
  });

  it('installs what may be repeated, and changes that', async () => {
    const id = await installed({ name: 'install.again', idempotent: true });
    expect(await get(id)).toMatchObject({ idempotent: true });
    expect((await put(id, { idempotent: false })).body).toEqual({ success: true, idempotent: false });
    expect(await get(id)).toMatchObject({ idempotent: false });
    expect(await put(await idOfBuiltin('http_request'), { idempotent: true })).toMatchObject({
      status: 400,
      body: { error: 'idempotent: the idempotent of a built-in skill cannot be changed' },
    });
  });

  it('answers 409 to the same name and version of the same owner, and installs other versions and owners', async () => {
    await install({ name: 'install.same' });
    const { status, body } = await install({ name: 'install.same' });
    expect([status, body.code]).toEqual([409, 'skill_exists']);
    expect((await install({ name: 'install.same', version: '1.0.1' })).status).toBe(201);
    expect((await install({ name: 'install.same', apiKeyId: app.key.id })).status).toBe(201);
  });

  it('lists the handlers when it knows none of that name', async () => {
    const { status, body } = await install({ name: 'install.code', handlerCode: 'return process.env' });
    expect([status, body.code, body.details]).toEqual([400, 'unknown_handler', [...handlers.keys()]]);
    expect(body.error).toContain([...handlers.keys()].join(', '));
  });

  it.each(['nobody', 'anonymous', "system' --"])('refuses the owner %j', async (apiKeyId) => {
    const { status, body } = await install({ name: 'install.owner', apiKeyId });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.error).toContain('apiKeyId');
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: '-x' }],
    ['name', { name: 'ünïcode' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'a@1.0.0' }],
    ['name', { name: "x'; DROP TABLE skills; --" }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'a'.repeat(10_000) }],
    ['name', { name: 7 }],
    ['version', { version: '1' }],
    ['version', { version: '1.0.0-beta' }],
    ['version', { version: '^1.0.0' }],
    ['version', { version: 1 }],
    ['description', { description: '' }],
    ['description', { description: 'a'.repeat(4_001) }],
    ['description', { description: 'a\0' }],
    ['description', { description: null }],
    ['schema', { schema: 'object' }],
    ['schema', { schema: [] }],
    ['handlerCode', { handlerCode: '' }],
    ['handlerCode', { handlerCode: 5 }],
    ['apiKeyId', { apiKeyId: '' }],
    ['tags', { tags: 'a,b' }],
    ['tags.0', { tags: [''] }],
    ['tags.0', { tags: [1] }],
    ['tags', { tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }],
    ['mode', { mode: 'sometimes' }],
    ['', { kind: 'builtin' }],
  ] as [string, JsonObject][])('refuses a bad %s: %j', async (path, fields) => {
    const { status, body } = await install({ name: 'install.bad', ...fields });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect((body.details as { path: string }[])[0]?.path).toBe(path);
  });

  it.each([
    [{ input: { type: 'object', properties: { a: { type: 'strin' } } } }, 'schema.input.properties.a'],
    [{ input: 'strin' }, 'schema.input'],
    [{ output: 7 }, 'schema.output'],
    [{ inputs: {} }, 'schema.inputs'],
  ] as [JsonObject, string][])('refuses %j and says where the fault is', async (schema, path) => {
    const { status, body } = await install({ name: 'install.fault', schema });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.error).toContain(path);
  });

  it.each(['name', 'description', 'schema', 'handlerCode'])('needs %s', async (field) => {
    const { [field]: _, ...rest } = valid as JsonObject;
    const { status, body } = await app.call('/api/skills/install', { json: rest });
    expect([status, (body.details as { path: string }[])[0]?.path]).toEqual([400, field]);
  });
});

describe('GET /api/skills', () => {
  it('answers a page with what the marketplace page needs', async () => {
    const { status, body } = await app.call('/api/skills');
    expect(status).toBe(200);
    expect(body).toMatchObject({ page: 1, limit: 50, provider: 'skillsmp' });
    expect(body.skills).toEqual(body.data);
    expect((body.data as JsonObject[]).map(({ name }) => name)).toContain('file_read');
  });

  it('pages in a fixed order without gaps', async () => {
    const { data, total } = await list();
    const pages = await Promise.all(
      Array.from({ length: Math.ceil(total / 3) }, (_, index) => app.call(`/api/skills?limit=3&page=${index + 1}`)),
    );
    expect(pages.flatMap(({ body }) => body.data)).toEqual(data);
    expect(pages[0]?.body).toMatchObject({ page: 1, limit: 3, total, totalPages: Math.ceil(total / 3) });
    const beyond = await app.call('/api/skills?limit=200&page=1000');
    expect([beyond.status, beyond.body.data, beyond.body.total]).toEqual([200, [], total]);
  });

  it('searches name, description and tags, whatever case and accents', async () => {
    await installed({ name: 'cafe-search', description: 'Trouve un CAFÉ', tags: ['Köln'] });
    for (const q of ['café', 'CAFE', 'koln', 'KÖLN', 'trouve cafe']) {
      expect((await list(`q=${encodeURIComponent(q)}`)).data.map(({ name }) => name)).toContain('cafe-search');
    }
    expect((await list(`q=${encodeURIComponent('cafe zzz')}`)).total).toBe(0);
  });

  it.each(["%' OR '1'='1", '%', '_', '\\', '"', '[', '*', '日本語', '🤷'])('takes %j for text', async (q) => {
    const { status, body } = await app.call(`/api/skills?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    expect((body as unknown as Listed).data.every((skill) => `${skill.name}${skill.description}${skill.tags}`.includes(q))).toBe(true);
  });

  it('filters by mode and source', async () => {
    await installed({ name: 'list.auto', mode: 'auto' });
    const auto = await list('mode=auto');
    expect(auto.data.map(({ mode }) => mode)).not.toContain('on');
    expect(auto.data.map(({ name }) => name)).toContain('list.auto');
    expect((await list('source=builtin')).data.every(({ kind }) => kind === 'builtin')).toBe(true);
    expect((await list('source=skillssh')).total).toBe(0);
    expect((await list('source=local&mode=auto&q=list')).data.map(({ name }) => name)).toEqual(['list.auto']);
  });

  it.each(['page=0', 'page=a', 'limit=0', 'limit=201', 'mode=ON', 'mode=', 'source=npm', `q=${'a'.repeat(501)}`, 'sort=name', 'q=a&q=b'])(
    'refuses ?%s',
    async (query) => {
      const { status, body } = await app.call(`/api/skills?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
    },
  );
});

describe('PUT /api/skills/:id', () => {
  it('changes what it names and answers what was sent', async () => {
    const id = await installed({ name: 'put.all' });
    const changes = { policy: 'hybrid', timeoutMs: 1_000, maxRetries: 0, description: 'New', tags: ['new'], mode: 'auto' };
    expect(await put(id, changes)).toMatchObject({ status: 200, body: { success: true, ...changes } });
    expect(await get(id)).toMatchObject({ ...changes, enabled: true, schema: valid.schema });
  });

  it('changes the schema, shorthand expanded', async () => {
    const id = await installed({ name: 'put.schema' });
    const schema = { input: { count: 'number' }, output: {} };
    expect((await put(id, { schema })).body).toEqual({ success: true, schema });
    expect((await get(id)).schema).toMatchObject({ input: { type: 'object', properties: { count: { type: 'number' } } } });
  });

  it('gives the executor its own limits back with null', async () => {
    const id = await installed({ name: 'put.null' });
    await put(id, { timeoutMs: 5, maxRetries: 5 });
    await put(id, { timeoutMs: null, maxRetries: null });
    expect(await get(id)).toMatchObject({ timeoutMs: null, maxRetries: null });
  });

  it.each([
    ['on', [{ enabled: false }], { enabled: false, mode: 'off' }],
    ['on', [{ enabled: false }, { enabled: true }], { enabled: true, mode: 'on' }],
    ['auto', [{ enabled: false }, { enabled: true }], { enabled: true, mode: 'auto' }],
    ['auto', [{ mode: 'off' }, { enabled: true }], { enabled: true, mode: 'auto' }],
    ['auto', [{ mode: 'off' }], { enabled: false, mode: 'off' }],
    ['off', [{ enabled: true }], { enabled: true, mode: 'on' }],
    ['on', [{ enabled: true, mode: 'off' }], { enabled: false, mode: 'off' }],
    ['off', [{ enabled: false, mode: 'auto' }], { enabled: true, mode: 'auto' }],
    ['auto', [{ enabled: true }], { enabled: true, mode: 'auto' }],
  ] as const)('keeps enabled and mode consistent: %s, then %j', async (mode, changes, expected) => {
    const id = await installed({ name: `switch-${crypto.randomUUID()}`, mode });
    for (const change of changes) await put(id, change);
    expect(await get(id)).toMatchObject(expected);
  });

  it('needs something to change, whether there is such a skill or not', async () => {
    const id = await installed({ name: 'put.empty' });
    for (const path of [id, 'nobody']) {
      expect(await put(path, {})).toMatchObject({ status: 400, body: { error: 'No update payload provided', code: 'invalid_request' } });
    }
  });

  it.each(['nobody', "x' OR '1'='1", 'a'.repeat(10_000)])('answers 404 to the id %j', async (id) => {
    const { status, body } = await put(encodeURIComponent(id), { enabled: true });
    expect([status, body.code]).toEqual([404, 'skill_not_found']);
  });

  it.each([
    ['enabled', { enabled: 'true' }],
    ['enabled', { enabled: 1 }],
    ['mode', { mode: 'ON' }],
    ['policy', { policy: 'never' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: 1.5 }],
    ['timeoutMs', { timeoutMs: 600_001 }],
    ['maxRetries', { maxRetries: -1 }],
    ['maxRetries', { maxRetries: 11 }],
    ['description', { description: 'a'.repeat(10_000) }],
    ['tags', { tags: null }],
    ['', { name: 'other' }],
    ['', { handler: 'reverse-text' }],
  ] as [string, JsonObject][])('refuses a bad %s: %j and changes nothing', async (path, fields) => {
    const id = await installed({ name: `bad-${crypto.randomUUID()}` });
    const before = await get(id);
    const { status, body } = await put(id, { policy: 'manual', ...fields });
    expect([status, body.code, (body.details as { path: string }[])[0]?.path]).toEqual([400, 'invalid_request', path]);
    expect(await get(id)).toEqual(before);
  });

  it('lets a built-in skill be switched', async () => {
    const id = await idOfBuiltin('browser');
    const changes = { mode: 'on', policy: 'hybrid', maxRetries: 1 };
    expect((await put(id, changes)).status).toBe(200);
    expect(await get(id)).toMatchObject({ ...changes, enabled: true });
  });

  it.each([{ description: 'Mine' }, { schema: { input: {}, output: {} } }, { tags: ['x'] }, { timeoutMs: 5 }] as JsonObject[])(
    'refuses %j of a built-in skill',
    async (fields) => {
      const id = await idOfBuiltin('file_read');
      const before = await get(id);
      const { status, body } = await put(id, { ...fields, mode: 'off' });
      const [field] = Object.keys(fields);
      expect([status, body.code, body.error]).toEqual([
        400,
        'invalid_request',
        `${field}: the ${field} of a built-in skill cannot be changed`,
      ]);
      expect(await get(id)).toEqual(before);
    },
  );
});

describe('GET and DELETE /api/skills/:id', () => {
  it('deletes a skill', async () => {
    const id = await installed({ name: 'delete.one' });
    expect(await app.call(`/api/skills/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200, body: { success: true } });
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await app.call(`/api/skills/${id}`, { method });
      expect([status, body.code]).toEqual([404, 'skill_not_found']);
    }
  });

  it('keeps the built-in skills', async () => {
    const id = await idOfBuiltin('file_write');
    const { status, body } = await app.call(`/api/skills/${id}`, { method: 'DELETE' });
    expect([status, body.error]).toEqual([400, 'A built-in skill cannot be deleted; switch it off instead']);
    expect((await get(id)).name).toBe('file_write');
  });

  it.each(["' OR 1=1 --", 'ü', 'a'.repeat(10_000), '%'])('answers 404 to the id %j', async (id) => {
    const { status, body } = await app.call(`/api/skills/${encodeURIComponent(id)}`);
    expect([status, body.code]).toEqual([404, 'skill_not_found']);
  });
});
