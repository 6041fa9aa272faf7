import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectMcp, MCP_CLIENTS, type McpClient, type McpClientKind, type McpClientOptions } from '../support/mcp-clients.ts';

const TOOLS = ['omniroute_skills_list', 'omniroute_skills_enable', 'omniroute_skills_execute', 'omniroute_skills_executions'];

let app: TestApp;
const clients: McpClient[] = [];
beforeAll(async () => {
  app = await createTestApp();
  await install({ name: 'echo' });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => app.close());

async function install(fields: JsonObject): Promise<string> {
  const json = { description: 'Answers its input', schema: { input: {}, output: {} }, ...fields };
  const handler = fields.instructions === undefined ? { handlerCode: 'echo-handler' } : {};
  const { body } = await app.call('/api/skills/install', { json: { ...json, ...handler } });
  return body.id as string;
}

/** A page's or program's request, handed to the app without a socket. */
const fetchApp: NonNullable<McpClientOptions['fetch']> = async (url, init = {}) =>
  app.request(new URL(url).pathname + new URL(url).search, {
    as: null,
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(init.body != null && { body: init.body }),
    ...(init.signal && { signal: init.signal }),
  });

async function connect(kind: McpClientKind, options: Partial<McpClientOptions> & { path?: string } = {}): Promise<McpClient> {
  const { path = '/mcp', key = app.key.key, ...rest } = options;
  const client = await connectMcp(kind, { url: `http://localhost${path}`, key, fetch: fetchApp, ...rest });
  clients.push(client);
  return client;
}

describe.each(MCP_CLIENTS)('the official client: %s', (kind) => {
  it('connects and lists the tools', async () => {
    const client = await connect(kind);
    expect(client.protocolVersion).toBe(kind === 'present' ? '2026-07-28' : '2025-11-25');
    expect(client.serverInfo).toMatchObject({ name: 'omniroute-edge' });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, annotations: expect.any(Object) });
    }
  });

  it('runs a skill', async () => {
    const client = await connect(kind);
    await client.listTools();
    const result = await client.call('omniroute_skills_execute', { skillName: 'echo', input: { text: 'hé' }, sessionId: 's' });
    expect(result.isError).toBe(false);
    expect(result.structuredContent.execution).toMatchObject({
      skillName: 'echo',
      apiKeyId: app.key.id,
      sessionId: 's',
      status: 'success',
      output: { text: 'hé' },
    });
  });
});
