import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createMcpApp, type McpApp } from '../support/mcp-app.ts';
import { MCP_CLIENTS } from '../support/mcp-clients.ts';

let mcp: McpApp;
/** What ends the run of `slow` under way. */
let finish: () => void = () => {};
let started = 0;
let aborted = 0;
beforeAll(async () => {
  mcp = await createMcpApp();
  mcp.app.services.executor.registerHandler('slow', async (_, { signal }) => {
    started += 1;
    signal.addEventListener('abort', () => {
      aborted += 1;
    });
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return { done: true };
  });
  await mcp.install({ name: 'slow', handlerCode: 'slow' });
});
afterEach(() => mcp.closeClients());
afterAll(() => mcp.app.close());

const CALL = { skillName: 'slow' };
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 50 });
const startedAfter = (before: number) => until(() => expect(started).toBe(before + 1));
const abortedAfter = (before: number) => until(() => expect(aborted).toBe(before + 1));
const lastExecution = async () => (await mcp.executions())[0] as JsonObject;

describe.each(MCP_CLIENTS)('with the client %s, a long call', (kind) => {
  it('tells of its progress when it is asked to, ever more', async () => {
    const client = await mcp.connect(kind);
    const told: number[] = [];
    const messages = new Set<string | undefined>();
    const call = client.call('omniroute_skills_execute', CALL, {
      onProgress({ progress, message }) {
        told.push(progress);
        messages.add(message);
      },
    });
    await until(() => expect(told.length).toBeGreaterThan(1));
    finish();
    expect((await call).structuredContent).toMatchObject({ execution: { status: 'success', output: { done: true } } });
    expect(told).toEqual([...told].sort((left, right) => left - right));
    expect(new Set(told).size).toBe(told.length);
    expect([...messages]).toEqual(['Running slow@1.0.0']);
  });

  it('is ended and recorded when its client cancels it', async () => {
    const client = await mcp.connect(kind);
    const [runs, aborts] = [started, aborted];
    const controller = new AbortController();
    const call = client.call('omniroute_skills_execute', CALL, { signal: controller.signal });
    await startedAfter(runs);
    controller.abort();
    await expect(call).rejects.toThrow();
    await abortedAfter(aborts);
    await until(async () =>
      expect(await lastExecution()).toMatchObject({ status: 'error', errorMessage: expect.stringMatching(/^Cancelled: the client/) }),
    );
  });
});

describe('a long call', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'omniroute_skills_execute', arguments: CALL } };
  const headers = { accept: 'application/json, text/event-stream' };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = {
    json: { ...message, params: { ...message.params, _meta: envelope } },
    headers: { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'omniroute_skills_execute' },
  };

  it.each([
    ['2025-11-25', { json: message, headers }],
    ['2026-07-28', modern],
  ])('of %s is ended and recorded when its client closes the stream', async (_, request) => {
    const [runs, aborts] = [started, aborted];
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, ...request });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await startedAfter(runs);
    await response.body?.cancel();
    await abortedAfter(aborts);
    await until(async () => expect(await lastExecution()).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left' }));
  });

  it('keeps its stream alive by comments', async () => {
    const runs = started;
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, ...modern });
    await startedAfter(runs);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(': keepalive\n\n');
    finish();
    await reader?.cancel();
  });

  it('goes on when a client of another session, or of another key, cancels one of the same id', async () => {
    const session = { 'mcp-session-id': crypto.randomUUID() };
    const runs = started;
    const looks = vi.spyOn(mcp.app.services.executions, 'statusOf');
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, json: message, headers: { ...headers, ...session } });
    await startedAfter(runs);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const other = await mcp.app.createKey();
    await mcp.post(cancel, { headers: { 'mcp-session-id': crypto.randomUUID() } });
    await mcp.post(cancel, { headers: session, as: other.key });
    await mcp.post(cancel);
    // The second of two looks begins after the first, and so after the cancellations, has had its effect.
    const before = looks.mock.calls.length;
    await until(() => expect(looks.mock.calls.length).toBeGreaterThan(before + 1));
    looks.mockRestore();
    finish();
    expect(await response.text()).toContain('"done":true');
  });

  it('is ended by the database, so that it does not matter which isolate is told', async () => {
    const session = { 'mcp-session-id': crypto.randomUUID() };
    const [runs, aborts] = [started, aborted];
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, json: message, headers: { ...headers, ...session } });
    await startedAfter(runs);
    const { id } = await lastExecution();
    await until(async () => expect((await mcp.app.services.executions.get(id as string))?.status).toBe('running'));
    expect(
      (await mcp.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, { headers: session })).status,
    ).toBe(202);
    expect(await lastExecution()).toMatchObject({ id, status: 'error', errorMessage: 'Cancelled: the client asked for it' });
    await abortedAfter(aborts);
    await response.text();
  });
});
