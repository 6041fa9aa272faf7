import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type ServerType, serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wordCount } from '../../examples/word-count/word-count.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { createInternet, DNS_URL } from '../support/fake-internet.ts';
// What comes with an example is a test itself.
import '../../examples/word-count/word-count.test.ts';

const root = new URL('../../', import.meta.url);
const run = promisify(execFile);

const WEBHOOK_SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const WEBHOOK_URL = 'https://shop.example.com/order-status';

let app: TestApp;
let server: ServerType;
let gatewayUrl: string;
let receiver: ChildProcess | undefined;
let receiverUrl: string | undefined;

beforeEach(async () => {
  // Whoever asks for the shop's address reaches the receiver, as he would through what serves HTTPS in front of it.
  const internet = createInternet({
    hosts: { 'shop.example.com': ['93.184.215.14'] },
    site: async (request) =>
      fetch(receiverUrl ?? 'http://127.0.0.1:9', { method: 'POST', headers: request.headers, body: await request.text() }),
  });
  app = await createTestApp({ upstream: internet.fetch, variables: { DNS_OVER_HTTPS_URL: DNS_URL } });
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
  server = serve({ fetch: (request) => app.app.fetch(request, {}, context), port: 0, hostname: '127.0.0.1' });
  if (!server.listening) await once(server, 'listening');
  gatewayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  if (receiver && receiver.exitCode === null) {
    receiver.kill();
    await once(receiver, 'exit');
  }
  receiver = undefined;
  receiverUrl = undefined;
  await new Promise((resolve) => server.close(resolve));
  await app.close();
});

/** What a program of the examples prints. Rejects, with what it printed, when it fails. */
async function node(file: string, parameters: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [file, ...parameters], { cwd: root, env: { PATH: process.env.PATH, ...env } });
  return stdout;
}
const install = (folder: string, env: Record<string, string> = {}) =>
  node('examples/install.mjs', [`examples/${folder}`], { URL: gatewayUrl, MANAGEMENT_TOKEN, ...env });

async function startReceiver(): Promise<string> {
  receiver = spawn(process.execPath, ['examples/webhook/server.mjs'], {
    cwd: root,
    env: { PATH: process.env.PATH, WEBHOOK_SECRET, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (receiver.stdout === null) throw new Error('The receiver has no output');
  const [line] = (await once(createInterface(receiver.stdout), 'line')) as [string];
  receiverUrl = line.replace('listening on ', '');
  return receiverUrl;
}

async function execute(skillName: string, input: JsonObject): Promise<JsonObject> {
  const { body } = await app.call('/api/skills/executions', { as: app.key.key, json: { skillName, input } });
  return body.execution as JsonObject;
}

describe('examples/word-count', () => {
  it('is installed and counts, once its function is among the handlers', async () => {
    app.services.executor.registerHandler(wordCount.name, wordCount.run);
    expect(await install('word-count')).toMatch(/^installed word-count: [0-9a-f-]{36}\n$/);
    expect(await execute('word-count', { text: 'to be or not' })).toMatchObject({ status: 'success', output: { words: 4 } });
    expect(await execute('word-count', { text: ['to be'] })).toMatchObject({
      status: 'error',
      errorMessage: expect.stringContaining('text'),
    });
  });
});

describe('examples/webhook', () => {
  it('is registered, installed and asked by the gateway', async () => {
    await startReceiver();
    expect(await install('webhook', { WEBHOOK_URL, WEBHOOK_SECRET })).toMatch(
      /^registered the webhook order-status at https:\/\/shop\.example\.com\/order-status\ninstalled order-status: [0-9a-f-]{36}\n$/,
    );
    expect(await execute('order-status', { orderId: 'A-1001' })).toMatchObject({
      status: 'success',
      output: { orderId: 'A-1001', status: 'shipped', carrier: 'Nordpost' },
    });
    expect(await execute('order-status', { orderId: 'A-9' })).toMatchObject({ status: 'error', errorMessage: 'No order A-9' });
    expect(await execute('order-status', { orderId: 'toString' })).toMatchObject({ status: 'error', errorMessage: 'No order toString' });
  });

  it('refuses a gateway that has another secret', async () => {
    await startReceiver();
    await install('webhook', { WEBHOOK_URL, WEBHOOK_SECRET: 'x'.repeat(32) });
    expect(await execute('order-status', { orderId: 'A-1001' })).toMatchObject({
      status: 'error',
      errorMessage: 'The webhook answered with status 401',
    });
  });

  it('can be tried without a gateway', async () => {
    const url = await startReceiver();
    const call = (secret: string, input: string) => node('examples/webhook/call.mjs', [url, input], { WEBHOOK_SECRET: secret });
    expect(await call(WEBHOOK_SECRET, '{"orderId":"A-1002"}')).toBe('200 {"orderId":"A-1002","status":"packing","carrier":null}\n');
    expect(await call('wrong', '{"orderId":"A-1002"}')).toBe('401 {"error":"Bad signature"}\n');
  });

  it('answers what nobody signed, what is too large and what is no JSON, and goes on', async () => {
    const url = await startReceiver();
    const status = async (body: string, headers = {}) => (await fetch(url, { method: 'POST', body, headers })).status;
    expect(await status('{}')).toBe(401);
    expect(await status('x'.repeat(8_000_000))).toBe(413);
    expect((await fetch(url)).status).toBe(401);
    expect(await node('examples/webhook/call.mjs', [url, 'null'], { WEBHOOK_SECRET })).toBe('500 {"error":"Internal error"}\n');
    expect(await node('examples/webhook/call.mjs', [url, '{"orderId":"A-1001"}'], { WEBHOOK_SECRET })).toMatch(/^200 /);
  });

  it('needs a secret to start', async () => {
    await expect(node('examples/webhook/server.mjs', [])).rejects.toMatchObject({ stderr: expect.stringContaining('Set WEBHOOK_SECRET') });
  });
});

describe('examples/commit-message', () => {
  it('is installed, and hands its text to the model', async () => {
    expect(await install('commit-message')).toMatch(/^installed commit-message: /);
    expect(await execute('commit-message', {})).toMatchObject({
      status: 'success',
      output: { success: true, instructions: expect.stringContaining('# Commit messages') },
    });
  });
});

describe('examples/install.mjs', () => {
  it('says what the gateway refuses', async () => {
    await expect(install('commit-message', { MANAGEMENT_TOKEN: 'wrong' })).rejects.toMatchObject({
      stderr: expect.stringContaining('unauthorized: '),
    });
    await expect(install('webhook', { WEBHOOK_URL: receiverUrl ?? 'http://127.0.0.1:9000', WEBHOOK_SECRET })).rejects.toMatchObject({
      stderr: 'invalid_request: url: Use an absolute https URL\n',
    });
    await expect(install('nothing')).rejects.toMatchObject({ stderr: expect.stringContaining('skill.json') });
  });
});
