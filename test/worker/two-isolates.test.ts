import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';

const TOKEN = 'management-token';

let database: TestDatabase;
let upstream: MockUpstream;
let workers: Miniflare[];
/** Two isolates on one database. What is switched is switched through the first; the second finds out by itself. */
let [here, there]: [string, string] = ['', ''];

beforeAll(async () => {
  // Miniflare prints there what the workers log.
  vi.spyOn(console, 'log').mockImplementation(() => {});
  database = await createTestDatabase();
  upstream = await startMockUpstream();
  const variables = { LIBSQL_URL: database.url, MANAGEMENT_TOKEN: TOKEN, OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-1' };
  workers = await Promise.all([0, 1].map(() => startWorker({ port: 0, variables, onCrash() {} })));
  const urls = await Promise.all(workers.map(async (worker) => String(await worker.ready)));
  [here = '', there = ''] = urls;
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.dispose()));
  await upstream.close();
  await database.close();
  vi.restoreAllMocks();
});

async function call(url: string, method: string, path: string, { json, as = TOKEN }: { json?: unknown; as?: string } = {}) {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

/** A key and a skill of its own, which the second isolate has in its cache and runs. */
async function prepare(name: string) {
  const created = await call(here, 'POST', '/api/keys', { json: { name } });
  const { id: apiKeyId, key } = created.body as { id: string; key: string };
  const skill = {
    name,
    description: 'Gives back what it gets',
    schema: { input: { text: 'string' } },
    handlerCode: 'echo-handler',
    apiKeyId,
  };
  const installed = await call(here, 'POST', '/api/skills/install', { json: { ...skill, mode: 'on' } });
  expect(installed.status).toBe(201);
  const prepared = { key, id: String(installed.body.id), toolName: `${name}_v1_0_0` };
  expect(await chat(prepared)).toMatchObject({ offered: true, status: 200, toldModel: { text: 'hi' }, answer: 'done' });
  return prepared;
}

/** One request to the second isolate, whose model calls the skill and then answers. */
async function chat({ key, toolName }: { key: string; toolName: string }, stream = false) {
  upstream.play(chatReply({ calls: [['call_1', toolName, '{"text":"hi"}']] }), chatReply({ text: 'done' }));
  const response = await fetch(new URL('/v1/chat/completions', there), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'go' }] }),
  });
  const text = await response.text();
  const [first, second] = upstream.requests;
  const tools = objectsOf(first?.body.tools).map((tool) => (tool.function as JsonObject).name);
  const result = objectsOf(second?.body.messages).find(({ role }) => role === 'tool');
  return {
    status: response.status,
    offered: tools.includes(toolName),
    toldModel: JSON.parse(String(result?.content)) as JsonObject,
    answer: [...text.matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part).join(''),
  };
}

const executionsOf = async (key: string) => objectsOf((await call(there, 'GET', '/api/skills/executions', { as: key })).body.data);

interface Switch {
  name: string;
  off(id: string): Promise<{ status: number }>;
  on?(id: string): Promise<{ status: number }>;
  error: string;
  refusal: { status: number; code: string };
}

const DISABLED = 'Skills execution is disabled. Enable Skills in Settings > AI.';

const SWITCHES: Switch[] = [
  {
    name: 'mode',
    off: (id) => call(here, 'PUT', `/api/skills/${id}`, { json: { mode: 'off' } }),
    on: (id) => call(here, 'PUT', `/api/skills/${id}`, { json: { mode: 'on' } }),
    error: 'Skill mode@1.0.0 is off',
    refusal: { status: 409, code: 'skill_off' },
  },
  {
    name: 'enabled',
    off: (id) => call(here, 'PUT', `/api/skills/${id}`, { json: { enabled: false } }),
    on: (id) => call(here, 'PUT', `/api/skills/${id}`, { json: { enabled: true } }),
    error: 'Skill enabled@1.0.0 is off',
    refusal: { status: 409, code: 'skill_off' },
  },
  {
    name: 'master',
    off: () => call(here, 'PUT', '/api/settings', { json: { skillsEnabled: false } }),
    on: () => call(here, 'PUT', '/api/settings', { json: { skillsEnabled: true } }),
    error: DISABLED,
    refusal: { status: 503, code: 'skills_disabled' },
  },
  {
    name: 'deleted',
    off: (id) => call(here, 'DELETE', `/api/skills/${id}`),
    error: 'Skill deleted@1.0.0 is no longer installed',
    refusal: { status: 404, code: 'skill_not_found' },
  },
];

describe.each(SWITCHES)('a skill that another isolate has just switched off: $name', ({ name, off, on, error, refusal }) => {
  it('is still offered from the cache, is not run, and the request goes on', async () => {
    const prepared = await prepare(name);
    expect(await executionsOf(prepared.key)).toHaveLength(1);
    expect((await off(prepared.id)).status).toBe(200);

    const refused = { status: 200, offered: true, toldModel: { success: false, error }, answer: 'done' };
    for (const stream of [false, true]) expect(await chat(prepared, stream)).toEqual(refused);
    const json = { skillName: name, input: { text: 'hi' } };
    const direct = await call(there, 'POST', '/api/skills/executions', { json, as: prepared.key });
    expect({ status: direct.status, ...direct.body }).toEqual({ ...refusal, error });
    expect(await executionsOf(prepared.key)).toHaveLength(1);

    if (on === undefined) return;
    expect((await on(prepared.id)).status).toBe(200);
    expect(await chat(prepared)).toMatchObject({ offered: true, toldModel: { text: 'hi' }, answer: 'done' });
  });
});
