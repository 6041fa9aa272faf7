import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createMcpApp, type McpApp } from '../support/mcp-app.ts';
import { MCP_CLIENTS } from '../support/mcp-clients.ts';

const path = '/mcp?expose=skills';

let mcp: McpApp;
beforeAll(async () => {
  mcp = await createMcpApp();
});
afterEach(() => mcp.closeClients());
afterAll(() => mcp.app.close());

const set = (id: string, json: JsonObject) => mcp.app.call(`/api/skills/${id}`, { method: 'PUT', json });
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 100 });

describe.each(MCP_CLIENTS)('with the client %s, ?expose=skills', (kind) => {
  const named = (name: string) => `${name}-${kind}`;
  const toolNamed = (name: string, version = '1_0_0') => `${name}-${kind}_v${version}`;

  it('offers the skills of the key as tools of their own, beside the others', async () => {
    const { id, key } = await mcp.app.createKey();
    const other = await mcp.app.createKey();
    const schema = { input: { text: 'string' }, output: {} };
    await mcp.install({ name: named('mine'), apiKeyId: id, schema, description: 'Mine' });
    await mcp.install({ name: named('theirs'), apiKeyId: other.id });
    await mcp.install({ name: named('everybodys') });
    await mcp.install({ name: named('everybodys'), version: '1.1.0', mode: 'auto' });
    await set(await mcp.install({ name: named('off') }), { mode: 'off' });
    await set(await mcp.install({ name: named('manual') }), { policy: 'manual' });
    const client = await mcp.connect(kind, { path, key });
    const tools = await client.listTools();
    const names = tools.map(({ name }) => name as string).filter((name) => name.includes(`-${kind}_v`));
    expect(names).toEqual([toolNamed('everybodys'), toolNamed('mine')]);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['omniroute_skills_execute', 'file_read_v1_0_0']));
    expect(tools.find(({ name }) => name === toolNamed('mine'))).toMatchObject({
      title: named('mine'),
      description: 'Mine',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    });
    for (const name of ['theirs', 'off', 'manual']) await expect(client.call(toolNamed(name))).rejects.toMatchObject({ code: -32602 });
    const manual = await client.call('omniroute_skills_execute', { skillName: named('manual') });
    expect(manual.isError).toBe(false);
  });

  it('runs them: the answer is the output, its execution is named', async () => {
    await mcp.install({ name: named('run') });
    const client = await mcp.connect(kind, { path });
    await client.listTools();
    const result = await client.call(toolNamed('run'), { text: 'hé' });
    expect(result).toMatchObject({ isError: false, structuredContent: { text: 'hé' }, content: [{ type: 'text', text: '{"text":"hé"}' }] });
    expect((await mcp.executions())[0]).toMatchObject({
      id: result.meta['omniroute/executionId'],
      apiKeyId: mcp.app.key.id,
      status: 'success',
    });
  });

  it('answers instructions, failures and calls that wait for a person', async () => {
    await mcp.install({ name: named('read'), instructions: '# Read me' });
    await set(await mcp.install({ name: named('ask') }), { policy: 'hybrid' });
    const client = await mcp.connect(kind, { path });
    const tools = await client.listTools();
    expect(tools.find(({ name }) => name === toolNamed('read'))?.annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
    expect((await client.call(toolNamed('read'))).content).toEqual([{ type: 'text', text: '# Read me' }]);
    const failed = await client.call('file_read_v1_0_0', { path: '../x' });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { success: false, error: 'Skill file path escapes the skill workspace' },
    });
    expect(await client.call(toolNamed('ask'))).toMatchObject({ isError: true, structuredContent: { approvalRequired: true } });
    const asking = await mcp.connect(kind, { path, elicit: () => 'accept' });
    expect(await asking.call(toolNamed('ask'), { n: 1 })).toMatchObject({ isError: false, structuredContent: { n: 1 } });
  });

  it('offers nothing of it without the parameter', async () => {
    await mcp.install({ name: named('hidden') });
    const client = await mcp.connect(kind);
    expect((await client.listTools()).map(({ name }) => name)).not.toContain(toolNamed('hidden'));
    await expect(client.call(toolNamed('hidden'))).rejects.toMatchObject({ code: -32602 });
    expect(client.capabilities.tools).toEqual({});
  });

  it('tells when the tools have changed', async () => {
    const { id, key } = await mcp.app.createKey();
    const client = await mcp.connect(kind, { path, key });
    expect(client.capabilities.tools).toEqual({ listChanged: true });
    const skillId = await mcp.install({ name: named('fresh'), apiKeyId: id });
    await until(async () => {
      // Until the stream is open a change is one of before it.
      await set(skillId, { description: `Changed ${Date.now()}` });
      expect(client.toolChanges).toBeGreaterThan(0);
    });
    const before = client.toolChanges;
    await set(skillId, { mode: 'off' });
    await until(() => expect(client.toolChanges).toBeGreaterThan(before));
    expect((await client.listTools()).map(({ name }) => name)).not.toContain(toolNamed('fresh'));
  });

  it('lists as many as there are', async () => {
    const { id, key } = await mcp.app.createKey();
    const rows = Array.from({ length: 1_100 }, (_, index) => `many-${String(index).padStart(4, '0')}-${kind}`);
    const { skills } = mcp.app.services;
    const [known] = await skills.listVisible(id);
    for (const name of rows)
      await skills.insert({ ...(known as NonNullable<typeof known>), id: crypto.randomUUID(), apiKeyId: id, name, kind: 'builtin' });
    const client = await mcp.connect(kind, { path, key });
    const names = (await client.listTools()).map(({ name }) => name as string);
    expect(names.filter((name) => name.startsWith('many-') && name.includes(kind))).toHaveLength(rows.length);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the switches of the settings', () => {
  it('take the tools away', async () => {
    await mcp.install({ name: 'custom' });
    const namesUnder = async (settings: JsonObject) => {
      await mcp.app.call('/api/settings', { method: 'PUT', json: settings });
      const client = await mcp.connect('present', { path });
      return (await client.listTools()).map(({ name }) => name);
    };
    expect(await namesUnder({})).toEqual(expect.arrayContaining(['custom_v1_0_0', 'file_read_v1_0_0']));
    const builtinOnly = await namesUnder({ customSkillExecutionEnabled: false });
    expect([builtinOnly.includes('custom_v1_0_0'), builtinOnly.includes('file_read_v1_0_0')]).toEqual([false, true]);
    expect((await namesUnder({ skillsEnabled: false })).filter((name) => !String(name).startsWith('omniroute_'))).toEqual([]);
    await namesUnder({ customSkillExecutionEnabled: true, skillsEnabled: true });
  });
});

describe('a tool that another isolate has just installed', () => {
  it('runs before it is listed here', async () => {
    const client = await mcp.connect('present', { path });
    await client.listTools();
    const [known] = await mcp.app.services.skills.listVisible('system', 'custom');
    const skill = { ...(known as NonNullable<typeof known>), id: crypto.randomUUID(), name: 'elsewhere' };
    await mcp.app.services.skills.insert(skill);
    expect(await client.call('elsewhere_v1_0_0', { n: 1 })).toMatchObject({ structuredContent: { n: 1 } });
  });
});
