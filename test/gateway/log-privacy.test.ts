import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { messageReply, text, toolUse } from '../support/anthropic-replies.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp, type TestAppOptions } from '../support/app.ts';
import { contentReply } from '../support/gemini-replies.ts';
import { type MockUpstream, sendJson, startMockUpstream, type UpstreamHandler } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';
import { functionCall, message, responseReply } from '../support/responses-replies.ts';

/** Every word that only the client, its model or a skill says, and every key, has this in it. */
const PLANTED = 'hunter2';
const plant = (what: string) => `${PLANTED}-${what}`;

type Call = [name: string, input: JsonObject];

interface Format {
  name: string;
  path(isStreamed: boolean): string;
  body: JsonObject;
  calls(calls: readonly Call[]): UpstreamHandler;
  answer(words: string): UpstreamHandler;
}

const ids = (calls: readonly Call[]) => calls.map(([name, input], index) => ({ id: `call_${index}`, name, input }));

const FORMATS: Format[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: {
      messages: [
        { role: 'system', content: plant('system') },
        { role: 'user', content: plant('prompt') },
      ],
    },
    calls: (calls) => chatReply({ calls: ids(calls).map(({ id, name, input }) => [id, name, JSON.stringify(input)]) }),
    answer: (words) => chatReply({ text: words }),
  },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: { instructions: plant('system'), input: plant('prompt') },
    calls: (calls) => responseReply({ output: ids(calls).map(({ id, name, input }) => functionCall(id, name, JSON.stringify(input))) }),
    answer: (words) => responseReply({ output: [message(words)] }),
  },
  {
    name: 'anthropic',
    path: () => '/v1/messages',
    body: { max_tokens: 100, system: plant('system'), messages: [{ role: 'user', content: plant('prompt') }] },
    calls: (calls) => messageReply({ content: ids(calls).map(({ id, name, input }) => toolUse(id, name, input)) }),
    answer: (words) => messageReply({ content: [text(words)] }),
  },
  {
    name: 'gemini',
    path: (isStreamed) => `/v1beta/models/m:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      systemInstruction: { parts: [{ text: plant('system') }] },
      contents: [{ role: 'user', parts: [{ text: plant('prompt') }] }],
    },
    calls: (calls) => contentReply({ parts: calls.map(([name, args]) => ({ functionCall: { name, args } })) }),
    answer: (words) => contentReply({ parts: [{ text: words }] }),
  },
];

/** A success, a failure that the skill tells, a bug whose error quotes its input, an input that does not fit, and one for a person. */
const CALLS: Call[] = [
  ['file_write_v1_0_0', { path: `${plant('file')}.txt`, content: plant('content') }],
  ['file_read_v1_0_0', { path: plant('missing') }],
  ['buggy_v1_0_0', { text: plant('bug') }],
  ['file_read_v1_0_0', { path: '', encoding: plant('encoding') }],
  ['eval_code_v1_0_0', { code: plant('code') }],
];

let upstream: MockUpstream;
let app: TestApp;

const options = (): TestAppOptions => ({
  upstream: (request) => fetch(request),
  variables: {
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_BASE_URL: upstream.url,
    GEMINI_BASE_URL: upstream.url,
    ...{ OPENAI_API_KEY: plant('openai'), ANTHROPIC_API_KEY: plant('anthropic'), GEMINI_API_KEY: plant('gemini') },
    ...{ LIBSQL_AUTH_TOKEN: plant('libsql'), SANDBOX_SECRET: `${plant('sandbox')}-${'s'.repeat(32)}` },
    SANDBOX_POOLS: JSON.stringify([{ name: 'none', urls: ['http://127.0.0.1:9'] }]),
  },
});

beforeAll(async () => {
  upstream = await startMockUpstream();
  app = await createTestApp(options());
  app.services.executor.registerHandler('buggy', async (input) => {
    throw new Error(`cannot read ${JSON.stringify(input)}`);
  });
  const json = { name: 'buggy', description: 'x', schema: { input: { text: 'string' } }, handlerCode: 'buggy', mode: 'on' };
  expect((await app.call('/api/skills/install', { json })).status).toBe(201);
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** One request of a format; what was logged meanwhile and the id of the request. */
async function ask({ path, body }: Format, isStreamed: boolean, headers: Record<string, string> = {}) {
  app.entries.length = 0;
  const json = { model: 'm', ...body, ...(isStreamed && !path(true).includes('stream') && { stream: true }) };
  const response = await app.request(path(isStreamed), { as: app.key.key, json, headers });
  const answer = await response.text();
  await app.settle();
  return { response, answer, entries: [...app.entries], requestId: response.headers.get('x-omniroute-request-id') };
}

function expectNothingPlanted(entries: readonly Record<string, unknown>[]) {
  const logged = JSON.stringify(entries);
  for (const secret of [PLANTED, app.key.key, MANAGEMENT_TOKEN]) expect(logged).not.toContain(secret);
}

describe.each(FORMATS)('$name', (format) => {
  it.each([
    ['plain', false],
    ['streamed', true],
  ])('%s: a whole tool loop is logged by its events under one id, without key, prompt, arguments or results', async (_, isStreamed) => {
    upstream.play(format.calls(CALLS), format.answer(plant('answer')));
    const headers = { 'x-omniroute-session': plant('session'), 'idempotency-key': plant(`key-${format.name}-${isStreamed}`) };
    const { response, answer, entries, requestId } = await ask(format, isStreamed, headers);
    expect(response.status).toBe(200);
    // Streams bring it in pieces.
    expect(answer).toContain(PLANTED.slice(0, 4));
    expect(JSON.stringify(upstream.requests[1]?.body)).toContain(plant('missing'));

    const count = (event: string) => entries.filter((entry) => entry.event === event).length;
    expect({
      injected: count('skills.injection.injected'),
      detected: count('skills.interception.tool_call_detected'),
      builtin: count('skills.interception.builtin_tool_detected'),
      complete: count('skills.interception.execution_complete'),
      failed: count('skills.interception.execution_failed'),
      start: count('skills.executor.start'),
      end: count('skills.executor.complete'),
      bug: count('skills.executor.unexpected'),
    }).toEqual({ injected: 1, detected: 5, builtin: 4, complete: 2, failed: 3, start: 3, end: 3, bug: 1 });
    expect(new Set(entries.map((entry) => entry.requestId))).toEqual(new Set([requestId]));
    expectNothingPlanted(entries);
  });

  it('a request that nothing is injected into is logged as such', async () => {
    upstream.play(format.answer(plant('answer')));
    const { entries, requestId } = await ask(format, false, { 'x-omniroute-skills': 'off' });
    expect(entries).toMatchObject([{ level: 'info', event: 'skills.injection.skipped', requestId }]);
    expectNothingPlanted(entries);
  });

  it.each([
    ['refuses', sendJson({ error: { type: 'x', code: 500, status: 'X', message: plant('refusal') } }, 500)],
    ['answers with no JSON', ((_, response) => void response.writeHead(200).end(plant('page'))) satisfies UpstreamHandler],
    ['hangs up', ((_, response) => void response.destroy()) satisfies UpstreamHandler],
  ])('a provider that %s in the second round is not quoted', async (_, handler) => {
    for (const isStreamed of [false, true]) {
      upstream.play(format.calls(CALLS.slice(0, 1)), handler);
      const { entries } = await ask(format, isStreamed);
      expect(entries.length).toBeGreaterThan(3);
      expectNothingPlanted(entries);
    }
  });
});

it('a database that fails in the middle of a run is logged without what it was given', async () => {
  const own = await createTestApp(options());
  own.services.executor.registerHandler('closing', async () => {
    await own.database.close();
    return { told: plant('output') };
  });
  const json = { name: 'closing', description: 'x', schema: {}, handlerCode: 'closing' };
  await own.call('/api/skills/install', { json });
  const { status } = await own.call('/api/skills/executions', {
    json: { skillName: 'closing', input: { text: plant('input') } },
    headers: { 'idempotency-key': plant('idempotency') },
  });
  expect(status).toBe(200);
  const failures = own.entries.filter(({ event }) => event === 'skills.executor.write_failed');
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) expect(failure.requestId).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
  expectNothingPlanted(own.entries);
});

it('a bug of ours is logged by its name and place, without its words', async () => {
  const own = await createTestApp(options());
  Object.assign(own.services.skills, { listPage: () => Promise.reject(new RangeError(plant('words'))) });
  const { status, body, headers } = await own.call('/api/skills');
  expect([status, body]).toEqual([500, { error: 'Internal error', code: 'internal_error' }]);
  const requestId = headers.get('x-omniroute-request-id');
  expect(own.entries).toMatchObject([{ level: 'error', event: 'request.failed', requestId, errorName: 'RangeError' }]);
  expect(own.entries[0]?.stack).toContainEqual(expect.stringContaining('log-privacy.test.ts'));
  expectNothingPlanted(own.entries);
  await own.close();
});

it('a database without its tables is told by its own words', async () => {
  const own = await createTestApp(options());
  await own.database.client.execute('DROP TABLE settings');
  expect((await own.call('/api/settings')).status).toBe(500);
  const reason = expect.stringContaining('no such table: settings');
  expect(own.entries).toMatchObject([{ event: 'request.failed', errorName: 'LibsqlError', reason }]);
  await own.close();
});
