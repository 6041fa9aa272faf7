import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { connectMcp, MCP_CLIENTS, type McpClient, type McpClientKind, type McpClientOptions } from '../support/mcp-clients.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let management: StackManagement;
beforeAll(async () => {
  stack = await startTestStack();
  management = manageStack(stack);
});
afterAll(() => stack?.stop());

const clients: McpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function connect(kind: McpClientKind, options: Partial<McpClientOptions> & { path?: string } = {}): Promise<McpClient> {
  const { path = '/mcp', ...rest } = options;
  const client = await connectMcp(kind, { url: `${stack.url}${path}`, key: stack.apiKey, ...rest });
  clients.push(client);
  return client;
}

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 100 });
const sleeping = (seconds: number, sessionId: string) => ({
  ...{ skillName: 'execute_command', sessionId },
  input: { command: 'sleep', args: [seconds], timeoutMs: 50_000 },
});
const executionOf = async (session: string) => (await management.executionsOf(session))[0];
const running = (session: string) => until(async () => expect(await executionOf(session)).toMatchObject({ status: 'running' }));
const cancelled = (session: string) =>
  until(async () =>
    expect(await executionOf(session)).toMatchObject({ status: 'error', errorMessage: expect.stringMatching(/^Cancelled: the client/) }),
  );

describe.each(MCP_CLIENTS)('the official client on the whole stack: %s', (kind) => {
  it('runs a program that a person has agreed to, and shows how it goes on', async () => {
    const client = await connect(kind, { elicit: () => 'accept' });
    await client.listTools();
    const progress: number[] = [];
    const result = await client.call(
      'omniroute_skills_execute',
      { skillName: 'eval_code', input: { code: `setTimeout(() => console.log('${kind}'), 2500)`, language: 'javascript' } },
      { onProgress: (told) => progress.push(told.progress) },
    );
    expect(result).toMatchObject({
      isError: false,
      structuredContent: { execution: { status: 'success', output: { stdout: `${kind}\n` } } },
    });
    expect(progress.length).toBeGreaterThan(0);
  });

  it('uses a skill as a tool, and its files are those of the key', async () => {
    const client = await connect(kind, { path: '/mcp?expose=skills' });
    await client.listTools();
    await client.call('file_write_v1_0_0', { path: `${kind}.txt`, content: 'hello' });
    const read = await client.call('file_read_v1_0_0', { path: `${kind}.txt` });
    expect(read.structuredContent).toMatchObject({ success: true, content: 'hello' });
  });

  it('ends what it cancels', async () => {
    const session = `cancel-${kind}`;
    const client = await connect(kind);
    const controller = new AbortController();
    const call = client.call('omniroute_skills_execute', sleeping(45, session), { signal: controller.signal });
    await Promise.all([running(session).then(() => controller.abort()), expect(call).rejects.toThrow()]);
    await cancelled(session);
  });

  it('ends what runs when it leaves', async () => {
    const session = `leave-${kind}`;
    const client = await connect(kind);
    const call = client.call('omniroute_skills_execute', sleeping(45, session)).catch(() => {});
    await running(session);
    await client.close();
    await call;
    await cancelled(session);
  });

  it('is told when its tools have changed', async () => {
    const client = await connect(kind, { path: '/mcp?expose=skills' });
    const skill: JsonObject = { name: `told-${kind}`, description: 'Echo', schema: { input: {} }, handlerCode: 'echo-handler' };
    const { id } = await management.call('POST', '/api/skills/install', skill);
    await until(async () => {
      await management.call('PUT', `/api/skills/${id}`, { description: `Changed ${Date.now()}` });
      expect(client.toolChanges).toBeGreaterThan(0);
    });
  });
});
