import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Validator } from '@cfworker/json-schema';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { runCommand } from '../../cli/run-command.ts';
import { createScriptedModel } from '../../dev/scripted-model.ts';
import { AGENT_SKILLS } from '../../src/agent-skills/generated/agent-skills.ts';
import { listOperations } from '../../src/api/openapi-document.ts';
import type { JsonObject } from '../../src/json.ts';
import { MCP_TOOLS } from '../../src/mcp/tools.ts';
import { makeApproval, makeExecution, makeSkill, sampleUpstream } from '../support/api-samples.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { assertDocumented, findOperation } from '../support/documented-answer.ts';
import { createInternet, DNS_URL } from '../support/fake-internet.ts';
import {
  blocksOf,
  type CurlRequest,
  differenceFrom,
  differenceFromClaim,
  differenceFromExit,
  examplesOf,
  readCurl,
  shellWords,
  variablesIn,
} from '../support/read-examples.ts';

const root = join(import.meta.dirname, '..', '..');
const URL_OF_APP = 'http://gateway.test';
const MODEL_URL = 'https://models.example';

/** What needs containers runs in test/e2e/agent-skills.test.ts. */
const TEXTS = AGENT_SKILLS.filter(({ id }) => id !== 'omniroute-guide-sandbox');
/** What MCP and A2A define, and the document of the API leaves to them. */
const OTHER_PROTOCOLS = ['/mcp', '/a2a', '/.well-known/agent-card.json'];
const isCommand = (command: string): boolean => command.startsWith('omniroute-edge ');

/** What the gateway reaches: models of all formats, GitHub, and the endpoint of a webhook. */
function createWorld(models: Hono): (request: Request) => Response | Promise<Response> {
  const shop = createInternet({
    hosts: { 'shop.example.com': ['93.184.215.14'] },
    site: async () => Response.json({ orderId: 'A-1001', status: 'shipped' }),
  });
  return (request) => {
    const { origin, hostname } = new URL(request.url);
    // What the scripted model has no answer for.
    if (request.url.endsWith(':countTokens')) return Response.json({ totalTokens: 3 });
    if (origin === MODEL_URL) return models.fetch(request);
    return ['dns.example', 'shop.example.com'].includes(hostname) ? shop.fetch(request) : sampleUpstream(request);
  };
}

function openApp(): Promise<TestApp> {
  const models = ['scripted-demo'];
  const providers = [
    { name: 'scripted', format: 'openai', baseUrl: `${MODEL_URL}/v1`, models },
    { name: 'scripted-anthropic', format: 'anthropic', baseUrl: MODEL_URL, models },
    { name: 'scripted-gemini', format: 'gemini', baseUrl: MODEL_URL, models },
  ];
  const pools = [{ name: 'eu', urls: ['https://sandbox-1.example.com'], colos: ['FRA'] }];
  return createTestApp({
    upstream: createWorld(createScriptedModel({ now: Date.now })),
    variables: {
      PROVIDERS: JSON.stringify(providers),
      DNS_OVER_HTTPS_URL: DNS_URL,
      SANDBOX_POOLS: JSON.stringify(pools),
      SANDBOX_SECRET: 's'.repeat(32),
      OPENAI_API_KEY: undefined,
      OPENAI_BASE_URL: undefined,
    },
  });
}

const make = async (app: TestApp, path: string, json: JsonObject): Promise<string> => String((await app.call(path, { json })).body.id);

/** What stands for each variable; ids are those of something new. */
const VALUES: Record<string, (app: TestApp) => string | Promise<string>> = {
  URL: () => URL_OF_APP,
  API_KEY: ({ key }) => key.key,
  MANAGEMENT_TOKEN: () => MANAGEMENT_TOKEN,
  MODEL: () => 'scripted-demo',
  WEBHOOK_SECRET: () => 'ab'.repeat(32),
  SKILL_ID: (app) => makeSkill(app),
  EXECUTION_ID: makeExecution,
  APPROVAL_ID: makeApproval,
  HANDLER_ID: (app) => make(app, '/api/handlers', { name: crypto.randomUUID(), url: 'https://shop.example.com/', secret: 's'.repeat(32) }),
  KEY_ID: (app) => make(app, '/api/keys', { name: 'old' }),
};

async function valuesFor(app: TestApp, text: string): Promise<Record<string, string> & { URL: string }> {
  const values = { URL: URL_OF_APP };
  for (const name of variablesIn(text)) {
    const value = VALUES[name];
    if (value === undefined) throw new Error(`No text should need the variable ${name}`);
    Object.assign(values, { [name]: await value(app) });
  }
  return values;
}

const isExport = (command: string): boolean => /^export [A-Z_]+=(\$\(openssl rand -hex 32\)|\S+)$/.test(command);

/** The requests of a text's commands, in an app that has none of their effects yet. */
async function requestsOf(app: TestApp, markdown: string): Promise<(CurlRequest & { command: string; claim: string | undefined })[]> {
  const commands = examplesOf(markdown).filter(({ command }) => !isExport(command) && !isCommand(command));
  return Promise.all(
    commands.map(async ({ command, claim }) => ({ ...(await readCurl(command, await valuesFor(app, command))), command, claim })),
  );
}

/** Runs the command line as the management. */
async function runLine(app: TestApp, args: readonly string[]): Promise<{ code: number; output: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommand(args, {
    env: { OMNIROUTE_URL: URL_OF_APP, OMNIROUTE_TOKEN: MANAGEMENT_TOKEN },
    stdin: Readable.from([]),
    stdout,
    stderr: stderr.resume(),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const body = await request.text();
      const { pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      return app.request(`${pathname}${search}`, { method: request.method, as: null, headers, ...(body !== '' && { body }) });
    },
    signal: new AbortController().signal,
  });
  stdout.end();
  return { code, output: await text(stdout) };
}

describe('the commands of', () => {
  it.each(TEXTS.map(({ id, markdown }) => ({ id, markdown })))('$id are answered as it says', async ({ markdown }) => {
    const app = await openApp();
    try {
      for (const { command, claim } of examplesOf(markdown)) {
        if (isExport(command)) continue;
        expect(claim, command).toBeDefined();
        const values = await valuesFor(app, command);
        if (isCommand(command)) {
          const ended = await runLine(app, await shellWords('omniroute-edge', command, values));
          expect(differenceFromExit(claim ?? '', ended), command).toBeUndefined();
          continue;
        }
        const { method, path, headers, body } = await readCurl(command, values);
        const response = await app.request(path, { method, as: null, headers, ...(body !== undefined && { body }) });
        const copy = response.clone();
        expect(await differenceFromClaim(claim ?? '', response), command).toBeUndefined();
        if (copy.headers.get('content-type')?.startsWith('application/json')) {
          assertDocumented(app.app.routes, method, path, copy.status, await copy.json());
        }
      }
    } finally {
      await app.close();
    }
  });
});

describe('the bodies', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp();
  });
  afterAll(() => app.close());

  it.each(AGENT_SKILLS)('of $id fit the operations that they are sent to', async ({ markdown }) => {
    for (const { method, path, body, command } of await requestsOf(app, markdown)) {
      if (OTHER_PROTOCOLS.includes(path)) continue;
      const operation = findOperation(app.app.routes, method, path);
      if (operation === undefined) throw new Error(`${command}: no operation ${method} ${path}`);
      const schema = (operation.route.body ?? operation.description.body) as z.ZodType | undefined;
      if (body === undefined) expect(schema, command).toBeUndefined();
      else expect(schema?.safeParse(JSON.parse(body)), command).toMatchObject({ success: true });
    }
  });

  it('show each operation that takes one, once', async () => {
    const sent = new Set<string>();
    for (const { markdown } of AGENT_SKILLS) {
      for (const { method, path } of await requestsOf(app, markdown)) {
        const operation = findOperation(app.app.routes, method, path);
        if (operation) sent.add(operation.description.summary);
      }
    }
    const withBody = listOperations(app.app.routes).filter(({ route, description }) => route.body ?? description.body);
    expect(withBody.map(({ description }) => description.summary).filter((summary) => !sent.has(summary))).toEqual([]);
  });
});

describe('the JSON', () => {
  const blocks = AGENT_SKILLS.flatMap(({ id, markdown }) =>
    blocksOf(markdown).flatMap(({ language, subject, text }) => (language === 'json' ? [{ id, subject, text }] : [])),
  );
  const KNOWN = ['client', 'delivery'];
  const calls = blocks.filter(({ subject }) => !KNOWN.includes(subject));

  it('is JSON, and says what it is', () => {
    expect(calls.length).toBeGreaterThan(3);
    for (const { text, subject } of blocks) {
      expect(() => JSON.parse(text)).not.toThrow();
      expect([...KNOWN, ...MCP_TOOLS.map(({ name }) => name)]).toContain(subject);
    }
  });

  it.each(calls)('for $subject in $id fits its input schema and is answered', async ({ subject, text }) => {
    const app = await openApp();
    try {
      const values = await valuesFor(app, text);
      const filled = JSON.parse(text.replaceAll(/\$([A-Z_]+)/g, (_, name: string) => values[name] ?? '')) as JsonObject;
      const tool = MCP_TOOLS.find(({ name }) => name === subject);
      expect(new Validator(tool?.inputSchema as object, '2020-12').validate(filled)).toMatchObject({ valid: true });
      const response = await app.request('/mcp', {
        headers: { accept: 'application/json, text/event-stream' },
        json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: subject, arguments: filled } },
      });
      const [, event = ''] = /^data: (.*)$/m.exec(await response.text()) ?? [];
      const { result } = JSON.parse(event) as { result: JsonObject };
      expect([response.status, result.isError ?? false], JSON.stringify(result)).toEqual([200, false]);
      expect(new Validator(tool?.outputSchema as object, '2020-12').validate(result.structuredContent)).toMatchObject({ valid: true });
    } finally {
      await app.close();
    }
  });
});

it('prints the handler that is tested as an example', () => {
  const markdown = AGENT_SKILLS.find(({ id }) => id === 'omniroute-guide-handlers')?.markdown ?? '';
  const [source] = blocksOf(markdown).filter(({ language }) => language === 'ts');
  const file = readFileSync(join(root, 'examples/word-count/word-count.ts'), 'utf8');
  expect(source?.text).toBe(file.replace('../../src/handlers/', './'));
});

it('has nothing but shell, JSON and that in its blocks', () => {
  const languages = AGENT_SKILLS.flatMap(({ markdown }) => blocksOf(markdown).map(({ language }) => language));
  expect([...new Set(languages)].sort()).toEqual(['json', 'sh', 'ts']);
});

describe('a claim', () => {
  const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

  it.each([
    ['200 {"a":"…"}', 200, { a: 1, b: 2 }, undefined],
    ['200 {"a":"…"}', 200, { b: 2 }, '.a: undefined is not "…"'],
    ['200 {"a":[{"b":1}]}', 200, { a: [{ b: 2 }, { b: 1, c: 1 }] }, undefined],
    ['200 {"a":[{"b":1}]}', 200, { a: [{ b: 2 }] }, '.a: [{"b":2}] is not [{"b":1}]'],
    ['200 {"a":[]}', 200, { a: [1] }, '.a: [1] is not []'],
    ['201', 200, { a: 1 }, '200 {"a":1} is not 201'],
    ['200 text/markdown', 200, {}, 'text/plain;charset=UTF-8 is not text/markdown'],
  ])('%s of %i %j', async (claim, status, body, difference) => {
    expect(await differenceFromClaim(claim, answer(status, body))).toBe(difference);
  });

  it.each([
    ['exits 0 {"a":1}', 0, '{"a":1,"b":2}', undefined],
    ['exits 0', 1, 'no', '1 no is not exits 0'],
    ['exits … {"a":2}', 1, '{"a":1}', '.a: 1 is not 2'],
    ['exits 0 deleted …', 0, 'deleted 12\n', undefined],
    ['exits 0 deleted (…)', 0, 'deleted 12', 'deleted 12 is not deleted (…)'],
  ])('%s of %i %s', (claim, code, output, difference) => {
    expect(differenceFromExit(claim, { code, output })).toBe(difference);
  });

  it('tells where it is wrong', () => {
    expect(differenceFrom({ a: { b: null } }, { a: { b: 0 } })).toBe('.a.b: 0 is not null');
    expect(() => examplesOf('```sh\n# 200\n```')).toThrow('Nothing answers # 200');
  });

  it('is read from the words that a shell makes of its command', async () => {
    const curl = `curl -s -X PUT "$URL/a?b=c" -H 'x-a: b c' -d '{"id":"'"$ID"'"}'`;
    expect(await readCurl(curl, { URL: 'http://g', ID: "it's" })).toEqual({
      method: 'PUT',
      path: '/a?b=c',
      headers: { 'x-a': 'b c' },
      body: '{"id":"it\'s"}',
    });
    await expect(readCurl('curl -s $URL/a --insecure', { URL: 'http://g' })).rejects.toThrow('what is --insecure?');
    await expect(readCurl('curl -s $URL/a; rm -rf /tmp/none', { URL: 'http://g' })).rejects.toThrow();
    await expect(readCurl('curl -s $URL/$ID', { URL: 'http://g' })).rejects.toThrow('ID');
    await expect(readCurl('wget $URL/a', { URL: 'http://g' })).rejects.toThrow('wget $URL/a does not call curl');
  });
});
