import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { AppEnv } from '../../src/api/app-env.ts';
import { requireScope } from '../../src/api/auth.ts';
import { describeRoute } from '../../src/api/describe-route.ts';
import { createOpenApiDocument, listOperations } from '../../src/api/openapi-document.ts';
import { jsonBody } from '../../src/api/validate.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { assertDocumented } from '../support/documented-answer.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { in: string; name: string; required?: boolean; schema: object }[];
  requestBody?: { content: Record<string, { schema: { properties: Record<string, object>; required?: string[] } }> };
  responses: Record<string, { description: string; headers?: object; content?: Record<string, { schema: object }> }>;
}
type Paths = Record<string, Record<string, Operation>>;

let app: TestApp;
let document: { openapi: string; info: { version: string }; paths: Paths; tags: { name: string }[]; components: { schemas: object } };
beforeAll(async () => {
  app = await createTestApp();
  document = (await app.call('/openapi.json', { as: null })).body as never;
});
afterAll(() => app.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
function operationOf(method: string, path: string): Operation {
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`no operation ${method} ${path}`);
  return operation;
}
const routesOf = () =>
  [...new Set(app.app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))].sort();

describe('/openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  it('has every route of the app, and nothing else', () => {
    const described = listOperations(app.app.routes);
    expect([...new Set(described.map(({ route }) => `${route.method.toUpperCase()} ${route.path}`))].sort()).toEqual(routesOf());
    const names = (list: { method: string; path: string }[]) => list.map(({ method, path }) => `${method} ${path}`).sort();
    expect(names(operations())).toEqual(names(described));
  });

  it('has what the gateway is known by', () => {
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/messages',
        '/v1/messages/count_tokens',
        '/v1beta/models/{model}:generateContent',
        '/v1beta/models/{model}:streamGenerateContent',
        '/v1/models',
        '/healthz',
        '/api/skills/{id}',
        '/api/skills/install',
        '/api/skills/executions/{id}',
        '/api/skills/approvals/{id}/approve',
        '/api/settings',
        '/api/keys/{id}',
      ]),
    );
  });

  it('says something of each operation under a name of its own', () => {
    const names = operations().map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations()) {
      expect(operation.summary).toMatch(/[^.]$/);
      expect(tags).toContain(operation.tags[0]);
      expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true);
    }
  });

  it('tells who may ask, and with what', () => {
    const { security } = operationOf('post', '/api/skills/executions');
    expect(security).toEqual([
      { managementToken: [] },
      { apiKeyBearer: ['execute:skills'] },
      { apiKeyHeader: ['execute:skills'] },
      { googleApiKeyHeader: ['execute:skills'] },
      { apiKeyQuery: ['execute:skills'] },
    ]);
    expect(operationOf('get', '/api/keys').security[1]).toEqual({ apiKeyBearer: ['manage'] });
    expect(operationOf('get', '/healthz').security).toEqual([]);
  });

  it('has the bodies and parameters that are checked', () => {
    const install = operationOf('post', '/api/skills/install').requestBody?.content['application/json']?.schema;
    expect(install?.required).toEqual(['name', 'description', 'schema']);
    expect(install?.properties.version).toMatchObject({ type: 'string', default: '1.0.0' });
    const { parameters = [] } = operationOf('get', '/api/skills');
    expect(parameters.map(({ name }) => name)).toEqual(['page', 'limit', 'q', 'mode', 'source']);
    expect(parameters[1]).toMatchObject({ in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200 } });
    expect(operationOf('delete', '/api/keys/{id}').parameters).toMatchObject([{ in: 'path', name: 'id', required: true }]);
  });

  it('has the errors of what is checked, and those of the route', () => {
    const { responses } = operationOf('put', '/api/skills/{id}');
    const errors = Object.entries(responses).filter(([status]) => status !== '200');
    expect(Object.fromEntries(errors.map(([status, { description }]) => [status, description]))).toEqual({
      400: '`invalid_request`, `invalid_json`',
      401: '`unauthorized`',
      403: '`forbidden`',
      404: '`skill_not_found`',
      413: '`payload_too_large`',
      429: '`rate_limited`',
      500: '`internal_error`',
      503: '`database_unavailable`, `management_not_configured`',
    });
    expect(responses[429]?.headers).toHaveProperty('retry-after');
    expect(responses[404]?.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' });
  });

  it('has no schema without a name of its own', () => {
    expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
  });

  it('tells the release that package.json tells', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
    expect(document.info.version).toBe(version);
  });
});

describe('a route that is described', () => {
  const routes = new Hono<AppEnv>().put(
    '/things/:id/parts/:part',
    describeRoute({
      tag: 'Service',
      summary: 'Change a part',
      answers: { 202: z.strictObject({ done: z.boolean() }) },
      errors: ['conflict'],
    }),
    requireScope('write:skills'),
    jsonBody(z.strictObject({ size: z.int().max(5) })),
    (c) => c.json({ done: true }, 202),
  ).routes;

  it('gets the rest from its handlers', () => {
    const operation = createOpenApiDocument(routes).paths?.['/things/{id}/parts/{part}']?.put as unknown as Operation;
    expect(operation.parameters?.map(({ name }) => name)).toEqual(['id', 'part']);
    expect(operation.requestBody?.content['application/json']?.schema.properties).toEqual({ size: { type: 'integer', maximum: 5 } });
    expect(operation.security[1]).toEqual({ apiKeyBearer: ['write:skills'] });
    expect(Object.keys(operation.responses)).toEqual(['202', '400', '401', '403', '409', '413', '429', '500', '503']);
  });

  it.each([
    [202, { done: true }, undefined],
    [202, { done: 'yes' }, 'is not what its description says'],
    [202, { done: true, further: 1 }, 'is not what its description says'],
    [200, { done: true }, 'does not know'],
    [409, { error: 'Taken', code: 'conflict' }, undefined],
    [409, { error: 'Taken', code: 'skill_exists' }, 'does not name this code'],
    [404, { error: 'None', code: 'not_found' }, 'does not know'],
  ])('holds its answers to what it says: %i %j', (status, body, fault) => {
    const check = () => assertDocumented(routes, 'PUT', '/things/1/parts/2?x=y', status, body);
    if (fault === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(fault);
  });
});

describe('/docs', () => {
  const load = () => app.request('/docs', { as: null });

  it('is a page that allows its own style and nothing else', async () => {
    const response = await load();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    const style = /<style>([\s\S]*?)<\/style>/.exec(await response.text())?.[1] ?? '';
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))).toString('base64');
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('takes nothing from elsewhere and runs nothing', async () => {
    const page = await (await load()).text();
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|style=/i);
    expect(
      [...page.matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, target]) => target)
        .filter((target) => !/^(#|\/openapi\.json$)/.test(target ?? '')),
    ).toEqual([]);
  });

  it('has each operation and schema, and a way to each', async () => {
    const page = await (await load()).text();
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations()) expect(ids).toContain(operation.operationId);
    for (const name of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${name}`);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });

  it('shows what a reader looks for', async () => {
    const page = (await (await load()).text()).replaceAll(/\s+/g, ' ');
    expect(page).toContain('<span class="method">POST</span> <code>/api/skills/install</code> Install a custom skill');
    expect(page).toContain('<li>409 <code>skill_exists</code></li>');
    expect(page).toMatch(/<code>limit<\/code><\/th> <td>query, integer<\/td> <td>Items on a page; 50 by default\. 1 to 200<\/td>/);
    expect(page).toContain('<a href="#schema-Execution">Execution</a>');
    expect(page).not.toMatch(/undefined|\[object|NaN/);
  });
});
