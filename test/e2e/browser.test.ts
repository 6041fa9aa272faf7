import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { type BrowserHost, createBrowserHost, type Site, startSite } from '../support/browser-host.ts';
import { TEST_SECRET } from '../support/docker.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let site: Site;
let host: BrowserHost;
let server: Server;
let stack: TestStack;
let management: StackManagement;

beforeAll(async () => {
  site = await startSite({
    '/': '<title>Shop</title><form action=/found><input id=q name=q></form>',
    '/found': '<title>Found</title><p>three bicycles',
    '/loop': '<title>Loop</title><button id=go onclick="for(;;);">go</button>',
  });
  host = createBrowserHost();
  server = serve({ fetch: host.host.app.fetch, hostname: '127.0.0.1', port: 0 }) as Server;
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stack = await startTestStack({ SANDBOX_POOLS: JSON.stringify([{ name: 'browsers', urls: [url] }]), SANDBOX_SECRET: TEST_SECRET });
  management = manageStack(stack);
});
afterAll(async () => {
  await stack?.stop();
  await host?.host.drain(0);
  server?.close();
  server?.closeAllConnections();
  await site?.close();
});

async function execute(input: JsonObject, signal?: AbortSignal): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(`${stack.url}/api/skills/executions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ skillName: 'browser', input }),
    ...(signal && { signal }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

describe('the skill browser', () => {
  it('is off until somebody switches it on', async () => {
    expect(await execute({ action: 'navigate', url: site.url })).toMatchObject({ status: 409, body: { code: 'skill_off' } });
  });

  it('runs steps that REST asks for, and fails in words', async () => {
    await management.withSkill('browser', { mode: 'on' }, async () => {
      const steps = [{ action: 'type', selector: '#q', text: 'bicycle\n' }, { action: 'screenshot' }];
      const { body } = await execute({ url: site.url, steps });
      expect(body.execution).toMatchObject({
        status: 'success',
        output: { success: true, action: 'screenshot', title: 'Found', status: 200, screenshot: expect.stringMatching(/^iVBORw0KGgo/) },
      });
      expect(site.requests).toContain('GET /found?q=bicycle');
      const failures = [
        [{ action: 'extract', url: 'http://inside.example/' }, 'Blocked private or local URL'],
        [{ action: 'extract', url: 'http://169.254.169.254/' }, 'Blocked private or local URL'],
        [{ action: 'click', url: site.url, selector: '#buy' }, 'Selector not found: #buy'],
      ] as const;
      for (const [input, errorMessage] of failures) {
        expect((await execute(input)).body.execution).toMatchObject({ status: 'error', errorMessage });
      }
    });
  });

  it('is called by a model that may', async () => {
    await management.withSkill('browser', { mode: 'on', policy: 'auto' }, async () => {
      const call = JSON.stringify({ action: 'extract', url: `${site.url}/found`, selector: 'p' });
      const response = await fetch(`${stack.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'scripted-demo', messages: [{ role: 'user', content: `call browser ${call}` }] }),
      });
      const reply = (await response.json()) as { choices: { message: { content: string } }[]; omniroute: JsonObject };
      expect(reply.choices[0]?.message.content).toContain('three bicycles');
      expect(objectsOf(reply.omniroute.executions)).toMatchObject([{ skill: 'browser@1.0.0', status: 'success' }]);
    });
  });

  it('ends with the client that asked for it', async () => {
    await management.withSkill('browser', { mode: 'on' }, async () => {
      const leaving = new AbortController();
      const left = execute({ action: 'click', url: `${site.url}/loop`, selector: '#go' }, leaving.signal).catch(() => 'left');
      await vi.waitFor(() => expect(site.requests).toContain('GET /loop'), { timeout: 20_000 });
      leaving.abort();
      expect(await left).toBe('left');
      await vi.waitFor(async () => expect(await host.containers()).toEqual([]), { timeout: 20_000 });
    });
  });
});
