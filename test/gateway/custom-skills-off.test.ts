import { afterEach, beforeEach, expect, it } from 'vitest';
import { skills } from '../../src/db/schema.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { makeSkill } from '../support/make-skill.ts';

const CUSTOM = ['my-handler', 'my-instructions'];
/** A custom version above the built-in one: of skills that are `auto` the highest is offered. */
const SHADOW = { name: 'web_search', version: '9.0.0', handler: 'echo-handler', mode: 'auto' as const };

let app: TestApp;
let offered: string[];

beforeEach(async () => {
  app = await createTestApp({
    upstream: async (request) => {
      const { tools = [] } = (await request.json()) as { tools?: { function: { name: string } }[] };
      offered = tools.map((tool) => tool.function.name);
      return Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
    },
  });
  const rows = [
    makeSkill({ name: 'my-handler', handler: 'echo-handler' }),
    makeSkill({ name: 'my-instructions', kind: 'instructions', handler: '# How to' }),
    makeSkill(SHADOW),
  ];
  await app.database.db.insert(skills).values(rows.map((row) => ({ ...row, modeWhenEnabled: 'on' as const })));
  await app.database.client.execute("UPDATE skills SET mode = 'auto' WHERE name = 'web_search'");
});
afterEach(() => app.close());

const toolsOfChat = async (): Promise<string[]> => {
  const json = { model: 'gpt', messages: [{ role: 'user', content: 'use web_search' }] };
  await (await app.request('/v1/chat/completions', { as: app.key.key, json })).text();
  return offered;
};
const execute = (skillName: string, input: JsonObject = {}) =>
  app.call('/api/skills/executions', { as: app.key.key, json: { skillName, input } });
const setSwitch = (customSkillExecutionEnabled: boolean) =>
  app.call('/api/settings', { method: 'PUT', json: { customSkillExecutionEnabled } });

it('offers built-in skills alone, in the versions that are built in', async () => {
  const builtin = ['eval_code_v1_0_0', 'file_read_v1_0_0', 'file_write_v1_0_0', 'http_request_v1_0_0'];
  expect(await toolsOfChat()).toEqual([...builtin, 'my-handler_v1_0_0', 'my-instructions_v1_0_0', 'web_search_v9_0_0']);
  await setSwitch(false);
  expect(await toolsOfChat()).toEqual([...builtin, 'web_search_v1_0_0']);
  await setSwitch(true);
  expect(await toolsOfChat()).toContain('my-handler_v1_0_0');
});

it.each(CUSTOM)('does not run %s any more, and does again', async (name) => {
  expect((await execute(name)).status).toBe(200);
  await setSwitch(false);
  expect(await execute(name)).toMatchObject({
    status: 409,
    body: { error: `Skill ${name}@1.0.0 is off: the settings allow built-in skills only`, code: 'skill_off' },
  });
  expect(await execute('http_request@1.0.0')).toMatchObject({ status: 200 });
  await setSwitch(true);
  expect((await execute(name)).status).toBe(200);
});

it('holds at once when another isolate threw the switch, though this one still offers them', async () => {
  await toolsOfChat();
  await app.database.client.execute("INSERT INTO settings (key, value, updated_at) VALUES ('customSkillExecutionEnabled', 'false', '')");
  expect(await toolsOfChat()).toContain('my-handler_v1_0_0');
  expect(await execute('my-handler')).toMatchObject({ status: 409, body: { code: 'skill_off' } });
  expect(await app.services.executions.count({})).toBe(0);
});

it('does not let an approval through that was given before', async () => {
  await app.database.client.execute("UPDATE skills SET policy = 'hybrid' WHERE name = 'my-handler'");
  const { executor, approvals, registry } = app.services;
  const skill = await registry.find('my-handler', app.key.id);
  if (skill === undefined) throw new Error('No skill my-handler');
  const context = {
    ...{ apiKeyId: app.key.id, sessionId: null, requestId: 'r', callId: 'c' },
    signal: new AbortController().signal,
  };
  const { approvalId } = await executor.park(skill, {}, context);
  await approvals.decide(approvalId, 'approved', new Date());
  await setSwitch(false);
  await expect(executor.execute(skill, {}, { ...context, approvalId })).rejects.toMatchObject({ code: 'skill_off' });
  await expect(executor.park(skill, {}, { ...context, callId: 'd' })).rejects.toMatchObject({ code: 'skill_off' });
  await setSwitch(true);
  expect(await executor.execute(skill, {}, { ...context, approvalId })).toMatchObject({ status: 'success' });
});
