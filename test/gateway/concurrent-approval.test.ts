import { afterAll, beforeAll, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';

const call = { id: 'call_1', type: 'function', function: { name: 'reverse-text_v1_0_0', arguments: '{"text":"edge"}' } };
let app: TestApp;
let results: JsonObject[] = [];

beforeAll(async () => {
  app = await createTestApp({
    upstream: async (request) => {
      const { messages } = (await request.json()) as { messages: JsonObject[] };
      const told = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(String(content)) as JsonObject);
      results.push(...told);
      const message = told.length > 0 ? { role: 'assistant', content: 'ok' } : { role: 'assistant', content: null, tool_calls: [call] };
      return Response.json({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] });
    },
  });
  const schema = { input: { text: 'string' }, output: { reversed: 'string' } };
  const skill = { name: 'reverse-text', version: '1.0.0', description: 'Reverses a text', schema, handlerCode: 'reverse-text' };
  const installed = await app.call('/api/skills/install', { method: 'POST', as: MANAGEMENT_TOKEN, json: skill });
  await app.call(`/api/skills/${installed.body.id}`, { method: 'PUT', as: MANAGEMENT_TOKEN, json: { policy: 'hybrid' } });
});
afterAll(() => app.close());

const chat = () =>
  app.call('/v1/chat/completions', { method: 'POST', as: app.key.key, json: { model: 'm', messages: [{ role: 'user', content: 'go' }] } });

it('of identical calls at once one uses the approval up, and the others ask for another', async () => {
  await chat();
  const { body } = await app.call('/api/skills/approvals', { as: app.key.key });
  const [approval] = objectsOf(body.data);
  await app.call(`/api/skills/approvals/${approval?.id}/approve`, { method: 'POST', as: app.key.key });
  results = [];
  await Promise.all([chat(), chat(), chat()]);
  expect(results.filter(({ reversed }) => reversed === 'egde')).toHaveLength(1);
  const asking = results.filter(({ approvalRequired }) => approvalRequired === true);
  expect(asking).toHaveLength(2);
  expect(asking.every(({ approvalId }) => typeof approvalId === 'string' && approvalId !== approval?.id)).toBe(true);
});
