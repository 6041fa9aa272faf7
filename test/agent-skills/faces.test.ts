import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_SKILL_COVERAGE, AGENT_SKILLS } from '../../src/agent-skills/generated/agent-skills.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const LISTED = AGENT_SKILLS.map(({ markdown: _, ...skill }) => skill);

/** The result of a tool of the MCP server, for a key that may do nothing with skills. */
async function callTool(name: string, input: JsonObject): Promise<JsonObject> {
  const { key } = await app.createKey(['chat']);
  const response = await app.request('/mcp', {
    as: key,
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
  });
  const [, event = ''] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  return (JSON.parse(event) as { result: JsonObject }).result;
}

it('MCP lists the texts as REST does', async () => {
  const { structuredContent } = await callTool('omniroute_agent_skills_list', {});
  expect(structuredContent).toEqual({ skills: LISTED, count: LISTED.length, coverage: AGENT_SKILL_COVERAGE });
  const guides = await callTool('omniroute_agent_skills_list', { category: 'guide', area: 'approvals' });
  expect(guides.structuredContent).toMatchObject({ skills: [{ id: 'omniroute-guide-approvals' }], count: 1 });
  expect(await callTool('omniroute_agent_skills_list', { category: 'weather' })).toMatchObject({ isError: true });
});

it('MCP answers a text, and says when there is none', async () => {
  const [skill] = AGENT_SKILLS;
  const answer = await callTool('omniroute_agent_skills_get', { id: skill?.id ?? '' });
  expect(answer).toMatchObject({ structuredContent: skill, content: [{ type: 'text', text: skill?.markdown }] });
  const none = await callTool('omniroute_agent_skills_get', { id: '../package.json' });
  expect(none).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('No agent skill with id ../package.json') }] });
});

it('A2A tells of the texts among its capabilities', async () => {
  const message = { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'list-capabilities' }] };
  const response = await app.request('/a2a', {
    as: app.key.key,
    json: { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } },
  });
  const { result } = (await response.json()) as {
    result: { artifacts: { parts: { kind: string; text?: string; data?: JsonObject }[] }[] };
  };
  const parts = result.artifacts[0]?.parts ?? [];
  expect(parts.find(({ kind }) => kind === 'data')?.data?.howToTexts).toEqual(LISTED);
  expect(parts.find(({ kind }) => kind === 'text')?.text).toContain(`${LISTED.length} texts tell how to use the gateway`);
});
