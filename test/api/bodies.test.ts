import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/api/request-body.ts';
import { MAX_JSON_DEPTH } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

const ENDPOINTS = [
  ['POST', '/api/keys'],
  ['PUT', '/api/settings'],
  ['POST', '/api/skills/install'],
  ['PUT', '/api/skills/x'],
  ['POST', '/api/skills/executions'],
  ['POST', '/api/handlers'],
  ['PUT', '/api/handlers/x'],
] as const;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe.each(ENDPOINTS)('%s %s', (method, path) => {
  it.each([
    ['nothing', ''],
    ['half an object', '{"name":'],
    ['single quotes', "{'name':'x'}"],
    ['a trailing comma', '{"name":"x",}'],
    ['NaN', '{"name":NaN}'],
    ['a byte order mark alone', '\ufeff'],
    ['a form', 'name=x'],
    ['65 levels', nested(MAX_JSON_DEPTH + 1)],
    ['10,000 levels', nested(10_000)],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('answers 400 invalid_json to %s', async (_, sent) => {
    const { status, body } = await app.call(path, { method, body: sent, headers: { 'content-type': 'application/json' } });
    expect([status, body.code]).toEqual([400, 'invalid_json']);
  });

  it.each(['[]', 'null', '"text"', '1', 'true'])('answers 400 invalid_request to %s', async (sent) => {
    const { status, body } = await app.call(path, { method, body: sent });
    expect([status, body.code, body.error]).toEqual([400, 'invalid_request', 'The body must be a JSON object']);
  });

  it('names an unknown field', async () => {
    const { status, body } = await app.call(path, { method, json: { surprise: 1 } });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(body.details)).toContain('surprise');
  });

  it('takes __proto__ for an unknown field', async () => {
    const { status, body } = await app.call(path, { method, body: '{"__proto__":{"name":"x"}}' });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it('does not look at the content type', async () => {
    const { body } = await app.call(path, { method, body: '{"surprise":1}', headers: { 'content-type': 'text/plain' } });
    expect(JSON.stringify(body.details)).toContain('surprise');
  });
});

it.each([
  ['says how large it is', { 'content-length': String(MAX_BODY_BYTES + 1) }],
  ['does not say how large it is', {}],
] as [string, Record<string, string>][])('answers 413 to a body that is too large and %s', async (_, headers) => {
  const body = new Blob([new Uint8Array(MAX_BODY_BYTES + 1).fill(0x20)]).stream();
  const response = await app.call('/api/keys', { body, headers });
  expect([response.status, response.body.code]).toEqual([413, 'payload_too_large']);
});

it('takes a body of just the limit', async () => {
  const json = `{"name":"large"${' '.repeat(MAX_BODY_BYTES - 16)}}`;
  expect(json.length).toBe(MAX_BODY_BYTES);
  expect((await app.request('/api/keys', { body: json })).status).toBe(201);
});

it('answers 404 to what is no endpoint', async () => {
  const { status, body } = await app.call('/api/nothing');
  expect([status, body]).toEqual([404, { error: 'No such endpoint: GET /api/nothing', code: 'not_found' }]);
});

it('gives each request an id', async () => {
  const [first, second] = await Promise.all([app.call('/healthz'), app.call('/api/nothing')]);
  expect(first.headers.get('x-omniroute-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(second.headers.get('x-omniroute-request-id')).not.toBe(first.headers.get('x-omniroute-request-id'));
});
