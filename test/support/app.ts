import type { ExecutionContext, Hono } from 'hono';
import type { AppEnv } from '../../src/api/app-env.ts';
import { createApp } from '../../src/app.ts';
import { seedBuiltinSkills } from '../../src/db/seed-builtin-skills.ts';
import { type RateLimiter, readConfig } from '../../src/env.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createServices, type Services } from '../../src/services.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { collectLog } from './collect-log.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { assertDocumented } from './documented-answer.ts';
import { loadQuickJs } from './load-quickjs.ts';

export const MANAGEMENT_TOKEN = 'test-management-token';
/** Where the provider `openai` of a test app is. */
export const UPSTREAM_URL = 'https://upstream.example/v1';

export interface TestAppOptions {
  /** Answers whatever the gateway asks of the world but its database. */
  upstream?: (request: Request) => Response | Promise<Response>;
  /** Further variables of the worker; undefined takes one away. */
  variables?: Record<string, string | undefined>;
  /** Stands between the gateway and its database. */
  databaseFetch?: (request: Request, send: typeof fetch) => Promise<Response>;
  /** The rate limiting binding; none by default. */
  rateLimiter?: RateLimiter;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export interface TestRequest {
  method?: string;
  /** Sent as bearer token. The management's by default, null for none. */
  as?: string | null;
  /** Sent as JSON. */
  json?: JsonValue;
  /** Sent as it stands. */
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface TestApp {
  app: Hono<AppEnv>;
  services: Services;
  database: TestDatabase;
  /** A key with the default scopes. */
  key: { id: string; key: string };
  /** What was logged, parsed. */
  entries: Record<string, unknown>[];
  request(path: string, request?: TestRequest): Promise<Response>;
  /** The status, and the body read as JSON. Throws an Error when it is not what the OpenAPI document says of the operation. */
  call(path: string, request?: TestRequest): Promise<{ status: number; body: JsonObject; headers: Headers }>;
  createKey(scopes?: string[]): Promise<{ id: string; key: string }>;
  /** Waits for what requests have left to be done after their answer. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const methodOf = (method: string | undefined, sent: unknown): string => method ?? (sent === undefined ? 'GET' : 'POST');

const refuse = (request: Request): Response => {
  throw new Error(`The test expects no request to ${request.url}`);
};

/** The whole gateway on a database of its own that holds the built-in skills, without a socket in front of it. */
export async function createTestApp({
  upstream = refuse,
  variables = {},
  databaseFetch = (request, send) => send(request),
  rateLimiter,
  now = Date.now,
}: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const { log, entries } = collectLog();
  const newId = () => crypto.randomUUID();
  const bindings = {
    LIBSQL_URL: database.url,
    MANAGEMENT_TOKEN,
    OPENAI_BASE_URL: UPSTREAM_URL,
    OPENAI_API_KEY: 'sk-upstream',
    ...variables,
    ...(rateLimiter && { RATE_LIMITER: rateLimiter }),
  };
  const send = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (!request.url.startsWith(database.url)) return upstream(request);
    return databaseFetch(request, fetch);
  };
  const services = createServices(readConfig(bindings), { fetch: send as typeof fetch, now, newId, random: Math.random, log, loadQuickJs });
  await seedBuiltinSkills(database.db, builtinSkills, { newId, now: () => new Date(now()) });

  const app = createApp(services);
  const background: Promise<unknown>[] = [];
  const context: ExecutionContext = {
    waitUntil: (work) => void background.push(work),
    passThroughOnException() {},
    props: {},
  };
  const request: TestApp['request'] = async (path, { method, as = MANAGEMENT_TOKEN, json, body, headers = {}, signal } = {}) => {
    const sent = json === undefined ? body : JSON.stringify(json);
    const init: RequestInit & { duplex: 'half' } = {
      duplex: 'half',
      method: methodOf(method, sent),
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
      ...(signal && { signal }),
    };
    return app.request(path, init, bindings, context);
  };
  const settle = async () => {
    while (background.length > 0) await Promise.allSettled(background.splice(0));
  };
  const createKey = (scopes = ['chat', 'read:skills', 'execute:skills']) => services.apiKeys.create({ name: 'test', scopes });
  return {
    app,
    services,
    database,
    key: await createKey(),
    entries,
    request,
    async call(path, options) {
      const response = await request(path, options);
      const { status, headers } = response;
      const body = (await response.json()) as JsonObject;
      assertDocumented(app.routes, methodOf(options?.method, options?.json ?? options?.body), path, status, body);
      return { status, body, headers };
    },
    createKey,
    settle,
    async close() {
      await settle();
      await database.close();
    },
  };
}
