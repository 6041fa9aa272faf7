import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { MANAGEMENT_TOKEN } from '../support/app.ts';
import { createMcpApp, type McpApp } from '../support/mcp-app.ts';
import { MCP_CLIENTS } from '../support/mcp-clients.ts';

const TOOLS = [
  'omniroute_skills_list',
  'omniroute_skills_enable',
  'omniroute_skills_execute',
  'omniroute_skills_executions',
  'omniroute_agent_skills_list',
  'omniroute_agent_skills_get',
];

let mcp: McpApp;
let other: { id: string; key: string };
beforeAll(async () => {
  mcp = await createMcpApp();
  other = await mcp.app.createKey();
  await mcp.install({ name: 'echo' });
});
afterEach(() => mcp.closeClients());
afterAll(() => mcp.app.close());

describe.each(MCP_CLIENTS)('the official client: %s', (kind) => {
  it('connects and lists the tools, with their schemas and hints', async () => {
    const client = await mcp.connect(kind);
    expect(client.protocolVersion).toBe(kind === 'present' ? '2026-07-28' : '2025-11-25');
    expect(client.serverInfo).toMatchObject({ name: 'omniroute-edge' });
    expect(client.capabilities.tools).toEqual({});
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, annotations: expect.any(Object) });
    }
  });

  it('runs a skill and gets its execution, which it checks by the schema', async () => {
    const client = await mcp.connect(kind);
    await client.listTools();
    const result = await client.call('omniroute_skills_execute', { skillName: 'echo', input: { text: 'hé' }, sessionId: 's' });
    expect(result).toMatchObject({ isError: false, content: [{ type: 'text', text: '{"text":"hé"}' }] });
    expect(result.structuredContent.execution).toMatchObject({
      skillName: 'echo',
      apiKeyId: mcp.app.key.id,
      sessionId: 's',
      status: 'success',
      output: { text: 'hé' },
    });
  });

  it('gets lists that fit their schemas', async () => {
    const client = await mcp.connect(kind, { key: MANAGEMENT_TOKEN });
    await client.listTools();
    const skillId = await mcp.install({ name: `switched-${kind}` });
    const { structuredContent: listed } = await client.call('omniroute_skills_list', { name: 'FILE_' });
    expect((listed.skills as JsonObject[]).map(({ name }) => name).sort()).toEqual(['file_read', 'file_write']);
    const switched = await client.call('omniroute_skills_enable', { skillId, enabled: false });
    expect(switched.structuredContent).toEqual({
      ...{ success: true, skillId, name: `switched-${kind}`, version: '1.0.0', enabled: false, mode: 'off' },
    });
    const { structuredContent: off } = await client.call('omniroute_skills_list', { name: `switched-${kind}`, enabled: true });
    expect(off).toEqual({ skills: [], total: 0 });
    const { structuredContent: runs } = await client.call('omniroute_skills_executions', { limit: 1 });
    expect(runs.executions).toHaveLength(1);
    const { structuredContent: texts } = await client.call('omniroute_agent_skills_list', {});
    expect(texts).toMatchObject({ skills: expect.any(Array), count: expect.any(Number), coverage: expect.any(Object) });
    for (const { id } of texts.skills as JsonObject[]) {
      const { structuredContent } = await client.call('omniroute_agent_skills_get', { id: id as string });
      expect(structuredContent).toMatchObject({ id, markdown: expect.stringMatching(/^---\n/) });
    }
  });

  it('reads the instructions of a skill of instructions', async () => {
    await mcp.install({ name: `manual-${kind}`, instructions: '# Do this\n\nThen that.' });
    const client = await mcp.connect(kind);
    const result = await client.call('omniroute_skills_execute', { skillName: `manual-${kind}` });
    expect(result.content).toEqual([{ type: 'text', text: '# Do this\n\nThen that.' }]);
    expect(result.structuredContent.execution).toMatchObject({ output: { success: true, instructions: '# Do this\n\nThen that.' } });
  });

  it('reads why a skill failed', async () => {
    const client = await mcp.connect(kind);
    await client.listTools();
    const result = await client.call('omniroute_skills_execute', { skillName: 'file_read', input: { path: '../etc/passwd' } });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: '{"success":false,"error":"Skill file path escapes the skill workspace"}' }],
      structuredContent: { execution: { status: 'error', errorMessage: 'Skill file path escapes the skill workspace' } },
    });
  });

  it.each([
    ['omniroute_skills_execute', { skillName: 'nothing' }, { error: 'No skill nothing', code: 'skill_not_found' }],
    ['omniroute_skills_execute', {}, { error: 'skillName: Invalid input: expected string, received undefined', code: 'invalid_request' }],
    ['omniroute_skills_execute', { skillName: 'echo', other: 1 }, { error: 'Unrecognized key: "other"', code: 'invalid_request' }],
    ['omniroute_skills_executions', { limit: 101 }, { error: 'limit: Too big: expected number to be <=100', code: 'invalid_request' }],
    ['omniroute_agent_skills_get', { id: 'nothing' }, { error: 'No agent skill with id nothing', code: 'skill_not_found' }],
  ])('reads what is wrong with a call of %s with %j', async (name, input, expected) => {
    const client = await mcp.connect(kind);
    const { isError, content } = await client.call(name, input as JsonObject);
    expect([isError, JSON.parse(content[0]?.text as string)]).toEqual([true, expected]);
  });

  it('gets an error of the protocol for a tool that there is not', async () => {
    const client = await mcp.connect(kind);
    await expect(client.call('echo_v1_0_0')).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('Unknown tool') });
  });
});

describe('who may do what', () => {
  const scoped = async (...scopes: string[]) => (await mcp.app.createKey(scopes)).key;
  const codeOf = async (key: string, name: string, input: JsonObject) => {
    const client = await mcp.connect('present', { key });
    const { isError, content } = await client.call(name, input);
    return isError ? (JSON.parse(content[0]?.text as string).code as string) : 'ok';
  };

  it.each([
    ['omniroute_skills_list', 'read:skills', {}],
    ['omniroute_skills_executions', 'read:skills', {}],
    ['omniroute_skills_execute', 'execute:skills', { skillName: 'echo' }],
    ['omniroute_agent_skills_list', 'chat', {}],
  ])('%s needs %s', async (name, scope, input) => {
    const others = ['chat', 'read:skills', 'write:skills', 'execute:skills'].filter((each) => each !== scope);
    expect(await codeOf(await scoped(scope), name, input)).toBe('ok');
    expect(await codeOf(await scoped('manage'), name, input)).toBe('ok');
    expect(await codeOf(await scoped(...others), name, input)).toBe(scope === 'chat' ? 'ok' : 'forbidden');
  });

  it('lets a key switch its own skills only', async () => {
    const { id, key } = await mcp.app.createKey(['write:skills']);
    const own = await mcp.install({ name: 'own', apiKeyId: id });
    const foreign = await mcp.install({ name: 'own', apiKeyId: other.id });
    const ofSystem = await mcp.install({ name: 'common' });
    const enable = (skillId: string, as = key) => codeOf(as, 'omniroute_skills_enable', { skillId, enabled: false });
    expect(await enable(own)).toBe('ok');
    expect(await enable(foreign)).toBe('skill_not_found');
    expect(await enable(ofSystem)).toBe('forbidden');
    expect(await enable('own')).toBe('skill_not_found');
    expect(await enable(own, mcp.app.key.key)).toBe('forbidden');
    expect(await enable(foreign, MANAGEMENT_TOKEN)).toBe('ok');
    expect(await enable('nothing', MANAGEMENT_TOKEN)).toBe('skill_not_found');
  });

  it('lets a key see and run its own skills and those of the system, the management those of any key', async () => {
    const skillId = await mcp.install({ name: 'secret-plan', apiKeyId: other.id });
    const list = async (key: string, input: JsonObject) => {
      const client = await mcp.connect('present', { key });
      const { structuredContent } = await client.call('omniroute_skills_list', { name: 'secret-plan', ...input });
      return (structuredContent?.skills as JsonObject[] | undefined)?.map(({ id }) => id);
    };
    expect(await list(mcp.app.key.key, {})).toEqual([]);
    expect(await list(other.key, {})).toEqual([skillId]);
    expect(await list(other.key, { apiKeyId: other.id })).toEqual([skillId]);
    expect(await list(MANAGEMENT_TOKEN, { apiKeyId: other.id })).toEqual([skillId]);
    expect(await codeOf(mcp.app.key.key, 'omniroute_skills_list', { apiKeyId: other.id })).toBe('forbidden');
    for (const skillName of ['secret-plan', skillId]) {
      expect(await codeOf(mcp.app.key.key, 'omniroute_skills_execute', { skillName })).toBe('skill_not_found');
      expect(await codeOf(other.key, 'omniroute_skills_execute', { skillName })).toBe('ok');
    }
    expect(await codeOf(MANAGEMENT_TOKEN, 'omniroute_skills_execute', { skillName: skillId })).toBe('ok');
  });

  it('lets a key see its own executions only', async () => {
    const client = await mcp.connect('present', { key: other.key });
    await client.call('omniroute_skills_execute', { skillName: 'echo' });
    const { structuredContent } = await client.call('omniroute_skills_executions');
    const owners = (structuredContent.executions as JsonObject[]).map(({ apiKeyId }) => apiKeyId);
    expect(new Set(owners)).toEqual(new Set([other.id]));
  });

  it('lists executions without inputs and outputs that are too long for a list', async () => {
    const { id, key } = await mcp.app.createKey();
    const client = await mcp.connect('present', { key });
    await client.listTools();
    const input = { text: 'x'.repeat(16 * 1024 + 1) };
    for (const each of [{ text: 'short' }, input]) await client.call('omniroute_skills_execute', { skillName: 'echo', input: each });
    const { content, structuredContent } = await client.call('omniroute_skills_executions');
    const [long, short] = structuredContent.executions as JsonObject[];
    expect(long).toMatchObject({ apiKeyId: id, status: 'success', input: null, output: null, omitted: ['input', 'output'] });
    expect(short).toMatchObject({ input: { text: 'short' }, output: { text: 'short' } });
    expect(short).not.toHaveProperty('omitted');
    expect(JSON.parse(content[0]?.text as string)).toEqual(structuredContent);
  });

  it('runs nothing that is off, nor anything while the master switch is off', async () => {
    const id = await mcp.install({ name: 'off' });
    await mcp.app.call(`/api/skills/${id}`, { method: 'PUT', json: { mode: 'off' } });
    expect(await codeOf(mcp.app.key.key, 'omniroute_skills_execute', { skillName: 'off' })).toBe('skill_off');
    await mcp.app.services.settings.put({ skillsEnabled: false });
    const code = await codeOf(mcp.app.key.key, 'omniroute_skills_execute', { skillName: 'echo' });
    await mcp.app.services.settings.put({ skillsEnabled: true });
    expect(code).toBe('skills_disabled');
  });
});

describe('the log', () => {
  it('names the tool, and never what it was given', async () => {
    const client = await mcp.connect('present');
    await client.call('omniroute_skills_execute', { skillName: 'echo', input: { text: 'my-private-words' } });
    await client.call('my-private-tool').catch(() => {});
    const calls = mcp.app.entries.filter(({ event }) => event === 'mcp.tool_call');
    expect(calls.slice(-2)).toMatchObject([
      { tool: 'omniroute_skills_execute', failed: false, requestId: expect.any(String), durationMs: expect.any(Number) },
      { tool: '(unknown)', failed: true },
    ]);
    expect(JSON.stringify(mcp.app.entries)).not.toContain('my-private');
  });

  it('does not tell a client of a fault, but logs where it was', async () => {
    const { registry } = mcp.app.services;
    const { find } = registry;
    registry.find = () => Promise.reject(new TypeError('secret detail'));
    const client = await mcp.connect('present');
    const call = client.call('omniroute_skills_execute', { skillName: 'echo' });
    await expect(call).rejects.toMatchObject({ code: -32603, message: expect.not.stringContaining('secret detail') });
    registry.find = find;
    expect(mcp.app.entries.at(-1)).toMatchObject({ event: 'mcp.failed', errorName: 'TypeError' });
    expect(JSON.stringify(mcp.app.entries)).not.toContain('secret detail');
  });
});
