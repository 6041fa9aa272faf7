import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { listOperations, type Operation } from '../../src/api/openapi-document.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { makeSample, SAMPLES, sampleUpstream } from '../support/api-samples.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

const LONG = 'a'.repeat(10_000);

/** Texts that have broken others: SQL, paths, patterns, markup, Unicode, names that every object has. */
const TEXTS = [
  '',
  ' ',
  "'",
  "x' OR '1'='1",
  "'); DROP TABLE skills; --",
  '"; SELECT * FROM api_keys; --',
  '%',
  '_%\\',
  '../../../etc/passwd',
  '..\\..\\windows',
  '/etc/passwd',
  '{{7*7}}<%= 7*7 %>',
  '<script>alert(1)</script>',
  'a\0b',
  'a\ud800b',
  '\udfff',
  '\u202Egnp.exe',
  'ﬁlé_ⅷ\u0301',
  '👩‍👩‍👧‍👦'.repeat(40),
  '\ufeff',
  'line\r\nX-Injected: 1',
  '__proto__',
  'constructor',
  'toString',
  LONG,
  '(a+)+$'.repeat(200),
];

/** Values of every kind that JSON has. */
const VALUES: JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  {},
  [null],
  [[]],
  ['a', 1],
  { toString: 1, valueOf: 1 },
  JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{}}}') as JsonValue,
  Array.from({ length: 2_000 }, () => 'x'),
  ...TEXTS,
];

/** Ids as they stand in a path. */
const IDS = [
  ...TEXTS.filter((text) => text.isWellFormed() && text !== '').map(encodeURIComponent),
  '%ff',
  '%00',
  '%2e%2e%2f',
  '..%2f..%2f',
  '%',
  "x'--",
  'x;y',
  '*',
  ':id',
  '~',
];

const MALFORMED: BodyInit[] = [
  '',
  '{',
  '{"a":',
  "{'a':1}",
  '{"a":1,}',
  'NaN',
  '\ufeff{}',
  '[1,2',
  '{"a":"\ud800',
  new Uint8Array([0xff, 0xfe, 0x7b]),
  '"',
  '{}{}',
];

let app: TestApp;
/** An app for each block, so that its tables stay small and nothing of one block is seen in another. */
const useApp = (options: TestAppOptions = {}) => {
  beforeAll(async () => {
    app = await createTestApp({ upstream: sampleUpstream, ...options });
  });
  afterAll(() => app.close());
};

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
const operations = () => listOperations(app.app.routes);

const TABLES = ['skills', 'skill_executions', 'settings', 'api_keys', 'approvals', 'webhooks'];

async function dump(): Promise<string> {
  const results = await app.database.client.batch(TABLES.map((table) => `SELECT * FROM ${table}`));
  return JSON.stringify(results.map(({ rows }) => rows));
}

/** Sends what should not be taken, and sees that it is answered as the document says, not by a fault of ours, and leaves the tables alone. */
async function expectCalm(path: string, request: Parameters<TestApp['call']>[1], sent: unknown): Promise<number> {
  const before = await dump();
  const { status, body } = await app.call(path, request);
  const what = JSON.stringify([request?.method, path.slice(0, 200), sent ?? null]).slice(0, 300);
  expect(status, what).not.toBe(500);
  if (status >= 400) {
    await app.settle();
    expect(JSON.stringify(body).length, what).toBeLessThan(30_000);
    expect((await dump()) === before, `${what} answered ${status} and changed something`).toBe(true);
  }
  return status;
}

const WITH_BODY = Object.keys(SAMPLES).filter((operation) =>
  /^(post|put) .*(install|executions|handlers|settings|keys|skills\/\{id\})/.test(operation),
);
/** What anybody may read needs no sample. */
const PUBLIC_WITH_ID = ['get /api/agent-skills/{id}', 'get /api/agent-skills/{id}/raw'];
const WITH_ID = [...Object.keys(SAMPLES).filter((operation) => operation.includes('{')), ...PUBLIC_WITH_ID];

describe('the operations', () => {
  useApp();

  it('with a body or an id are all tried', () => {
    const own = operations().filter(({ path }) => path.startsWith('/api/'));
    const withBody = own.filter(({ route }) => route.body !== undefined).map(nameOf);
    expect(withBody.filter((name) => !WITH_BODY.includes(name))).toEqual([]);
    expect(own.map(nameOf).filter((name) => name.includes('{') && !WITH_ID.includes(name))).toEqual([]);
  });
});

describe.each(WITH_BODY)('the body of %s', (operation) => {
  useApp();

  it.each(MALFORMED)('that is no JSON is 400: %j', async (body) => {
    const sample = await makeSample(app, operation);
    expect(await expectCalm(sample.path, { method: sample.method, ...(sample.as && { as: sample.as }), body }, body)).toBe(400);
  });

  it('may hold any value in any field', async () => {
    const sample = await makeSample(app, operation);
    const schema = operations().find((candidate) => nameOf(candidate) === operation)?.route.body as z.ZodObject;
    const fields = Object.keys(schema.shape);
    expect(fields.length).toBeGreaterThan(0);
    for (const field of fields) {
      for (const value of VALUES) {
        await expectCalm(sample.path, { ...sample, json: { ...(sample.json as JsonObject), [field]: value } }, { [field]: value });
      }
    }
  });
});

describe.each(WITH_ID)('the id of %s', (operation) => {
  useApp();

  it('may be anything, and is then not found', async () => {
    const sample = PUBLIC_WITH_ID.includes(operation) ? { method: 'GET', path: '' } : await makeSample(app, operation);
    const { json, as, method } = sample;
    for (const id of IDS) {
      const path = operation.slice(operation.indexOf(' ') + 1).replace('{id}', id);
      const status = await expectCalm(path, { method, ...(json !== undefined && { json }), ...(as && { as }) }, id);
      // A path that is spelled like the route's own is matched twice, so that its body cannot be read again.
      expect([id, id === ':id' && status === 400 ? 404 : status]).toEqual([id, 404]);
    }
  });
});

describe('the query', () => {
  useApp();

  it('of any list may hold anything', async () => {
    const texts = TEXTS.filter((text) => text.isWellFormed()).map(encodeURIComponent);
    for (const operation of operations().filter(({ route }) => route.query !== undefined)) {
      const ask = async (query: string) => {
        const { status } = await app.call(`${operation.path}?${query}`);
        expect([query, [200, 400, 502].includes(status)]).toEqual([query, true]);
      };
      for (const name of [...Object.keys((operation.route.query as z.ZodObject).shape), 'surprise', '__proto__']) {
        for (const text of texts) await ask(`${name}=${text}`);
        for (const raw of [`${name}=%`, `${name}=%ff`, name, `${name}[]=1`, `${name}=1&${name}=2`]) await ask(raw);
      }
      for (const raw of ['%', '=', '&&', '%00=%00']) await ask(raw);
    }
  });
});

describe('a name of 10,000 characters', () => {
  useApp();

  it.each([
    ['/api/keys', { name: LONG }],
    ['/api/handlers', { name: LONG, url: 'https://hooks.example.com', secret: 's'.repeat(32) }],
    ['/api/skills/install', { name: LONG, description: 'x', schema: {}, handlerCode: 'echo-handler' }],
    ['/api/skills/executions', { skillName: LONG }],
  ])('is refused by POST %s', async (path, json) => {
    expect(await expectCalm(path, { method: 'POST', json }, json)).toBe(400);
  });
});

describe('the same thing written at once', () => {
  useApp();

  const times = 12;
  const count = async (sql: string, args: (string | null)[]) => Number((await app.database.client.execute({ sql, args })).rows[0]?.n);
  const statusesOf = async (send: () => Promise<{ status: number }>) =>
    (await Promise.all(Array.from({ length: times }, send))).map(({ status }) => status).sort();

  it('is installed once', async () => {
    const { json } = await makeSample(app, 'post /api/skills/install');
    const statuses = await statusesOf(() => app.call('/api/skills/install', { json: json as JsonObject }));
    expect(statuses).toEqual([201, ...Array.from({ length: times - 1 }, () => 409)]);
    expect(await count('SELECT count(*) AS n FROM skills WHERE name = ?', [(json as { name: string }).name])).toBe(1);
  });

  it('is registered once', async () => {
    const { json } = await makeSample(app, 'post /api/handlers');
    const statuses = await statusesOf(() => app.call('/api/handlers', { json: json as JsonObject }));
    expect(statuses).toEqual([201, ...Array.from({ length: times - 1 }, () => 409)]);
  });

  it.each(['marketplace', 'skillssh'])('is installed from %s once', async (marketplace) => {
    await app.services.settings.put({ skillsProvider: marketplace === 'skillssh' ? 'skillssh' : 'skillsmp' });
    const { path, json } = await makeSample(app, `post /api/skills/${marketplace}/install`);
    const statuses = await statusesOf(() => app.call(path, { json: json as JsonObject }));
    expect(statuses).toEqual([201, ...Array.from({ length: times - 1 }, () => 409)]);
  });

  it('is run once under one idempotency key', async () => {
    const { json } = await makeSample(app, 'post /api/skills/executions');
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: times }, () => app.call('/api/skills/executions', { as: app.key.key, json: json as JsonObject, headers })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${(body.execution as JsonObject).id}`)).size).toBe(1);
    expect(await count('SELECT count(*) AS n FROM skill_executions WHERE request_id = ?', [headers['idempotency-key']])).toBe(1);
  });

  it('is decided once: approved and denied at the same time', async () => {
    const { path } = await makeSample(app, 'post /api/skills/approvals/{id}/approve');
    const decide = (index: number) =>
      app.call(index % 2 === 0 ? path : path.replace(/approve$/, 'deny'), { method: 'POST', as: app.key.key });
    const answers = await Promise.all(Array.from({ length: times }, (_, index) => decide(index)));
    const decisions = answers.filter(({ status }) => status === 200).map(({ body }) => (body.approval as JsonObject).status);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect([new Set(decisions).size, decisions.length]).toEqual([1, times / 2]);
  });

  it('is deleted once', async () => {
    for (const operation of ['delete /api/skills/{id}', 'delete /api/keys/{id}', 'delete /api/handlers/{id}']) {
      const { path } = await makeSample(app, operation);
      const statuses = await statusesOf(() => app.call(path, { method: 'DELETE' }));
      expect([operation, statuses]).toEqual([operation, [200, ...Array.from({ length: times - 1 }, () => 404)]]);
    }
  });

  it('is changed to one of the values that were sent', async () => {
    const { path } = await makeSample(app, 'put /api/skills/{id}');
    const sent = Array.from({ length: times }, (_, index) => ({ description: `d${index}`, tags: [`t${index}`] }));
    const answers = await Promise.all(sent.map((json) => app.call(path, { method: 'PUT', json })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { description, tags } = (await app.call(path)).body;
    expect(sent).toContainEqual({ description, tags });
  });
});

describe('a body of many faults', () => {
  useApp();

  it.each([
    ['POST', '/api/keys', 'scopes'],
    ['POST', '/api/skills/install', 'tags'],
    ['PUT', '/api/settings', 'fallbackModels'],
  ])('%s %s is answered in few words: a long list', async (method, path, field) => {
    const body = `{"name":"x","description":"x","schema":{},"handlerCode":"echo-handler","${field}":[${'1,'.repeat(200_000)}1]}`;
    const response = await app.request(path, { method, body });
    expect([response.status, (await response.text()).length < 1_000]).toEqual([400, true]);
  });

  it('names 50 of them, and of unknown fields as many as fit', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field-${index}`, 1]));
    const { status, body } = await app.call('/api/keys', { json: { name: 'x', ...unknown } });
    expect([status, JSON.stringify(body).length < 2_000]).toEqual([400, true]);
    const tags = Array.from({ length: 50 }, () => 1);
    const schema = { input: {} };
    const many = await app.call('/api/skills/install', { json: { name: 1, description: 1, schema, handlerCode: 1, tags } });
    expect([many.status, (many.body.details as JsonValue[]).length]).toEqual([400, 50]);
  });
});

describe('what models are asked by', () => {
  const message = { role: 'assistant', content: 'hi' };
  const reply: JsonObject = {
    ...{ choices: [{ index: 0, message, finish_reason: 'stop' }] },
    ...{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' },
    ...{
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', ...message, content: [{ type: 'output_text', text: 'hi' }] }],
    },
    ...{ candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }] },
  };
  const origin = 'https://models.example';
  useApp({
    upstream: ({ url }) =>
      url.includes('alt=sse')
        ? new Response(`data: ${JSON.stringify(reply)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
        : Response.json(reply),
    variables: { ANTHROPIC_API_KEY: 'sk', ANTHROPIC_BASE_URL: origin, GEMINI_API_KEY: 'sk', GEMINI_BASE_URL: origin },
  });

  const PATHS = [
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
    '/v1/messages/count_tokens',
    '/v1beta/models/gpt:generateContent',
    '/v1beta/models/gpt:streamGenerateContent',
    '/v1beta/models/gpt:countTokens',
  ];
  const FIELDS = [
    'model',
    'messages',
    'input',
    'contents',
    'system',
    'instructions',
    'systemInstruction',
    'tools',
    'tool_choice',
    'toolConfig',
    'stream',
    'max_tokens',
    'n',
  ];

  it.each(PATHS)('%s answers 400 to what is no JSON', async (path) => {
    for (const body of MALFORMED) {
      const { status } = await app.call(path, { method: 'POST', as: app.key.key, body });
      expect([body, status]).toEqual([body, 400]);
    }
  });

  it.each(PATHS)('%s takes any value in any field without a fault of its own', async (path) => {
    const valid: JsonObject = {
      model: 'gpt',
      messages: [{ role: 'user', content: 'hi' }],
      input: 'hi',
      contents: [{ parts: [{ text: 'hi' }] }],
    };
    expect((await app.request(path, { as: app.key.key, json: valid })).status).toBe(200);
    for (const field of FIELDS) {
      for (const value of VALUES) {
        const response = await app.request(path, { as: app.key.key, json: { ...valid, [field]: value } });
        expect([field, value, response.status]).not.toEqual([field, value, 500]);
        expect((await response.text()).length).toBeLessThan(30_000);
      }
    }
  });

  it('a model of any name is not found, in few words', async () => {
    for (const name of ['x'.repeat(10_000), '../../x', '%ff', 'a%00b', '💥', ':', '::generateContent']) {
      const { status } = await app.call(`/v1beta/models/${name}:generateContent`, { as: app.key.key, json: { contents: [] } });
      expect([name.slice(0, 20), status >= 400 && status < 500]).toEqual([name.slice(0, 20), true]);
    }
  });
});
