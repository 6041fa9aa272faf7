import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

const INPUT = { path: 'approved.txt', content: 'x', append: true };

let app: TestApp;
let time: number;
/** What the model is asked, and what it says in turn. */
let asked: JsonObject[];
let output: JsonObject[];

beforeEach(async () => {
  time = Date.parse('2026-11-01T12:00:00Z');
  asked = [];
  app = await createTestApp({
    now: () => time,
    upstream: async (request) => {
      asked.push((await request.json()) as JsonObject);
      const said = asked.length === 1 ? output : [];
      return Response.json({ id: `resp_${asked.length}`, status: 'completed', output: said });
    },
  });
  await changeSkill('file_write', { policy: 'hybrid' });
});
afterEach(async () => {
  await app.settle();
  await app.close();
});

async function skillId(name: string): Promise<string> {
  const { body } = await app.call(`/api/skills?q=${name}`);
  return String(objectsOf(body.data)[0]?.id);
}
const changeSkill = async (name: string, changes: JsonObject) =>
  app.call(`/api/skills/${await skillId(name)}`, { method: 'PUT', json: changes });

const send = (input: JsonObject[]) =>
  app.call('/v1/responses', {
    method: 'POST',
    as: app.key.key,
    json: { model: 'gpt-5-x', store: false, input },
  });

/** Lets the model propose a call, and gives the item that asks for it. */
async function propose(input: JsonObject = INPUT, name = 'file_write_v1_0_0'): Promise<JsonObject> {
  asked = [];
  output = [{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: JSON.stringify(input) }];
  const { body } = await send([{ role: 'user', content: 'write' }]);
  return objectsOf(body.output).at(-1) ?? {};
}

/** What the model reads of the call when the client answers. */
async function answer(request: JsonObject, fields: JsonObject = { approve: true }): Promise<JsonObject> {
  asked = [];
  output = [];
  await send([{ type: 'mcp_approval_response', approval_request_id: request.id ?? null, ...fields }]);
  const [call, result] = objectsOf(asked[0]?.input);
  expect(call).toMatchObject({ type: 'function_call', name: request.name, arguments: request.arguments });
  return JSON.parse(String(result?.output)) as JsonObject;
}

describe('an answer to a question about a call', () => {
  it('comes too late after fifteen minutes, answered or not', async () => {
    const request = await propose();
    time += 15 * 60_000 + 1;
    expect(await answer(request)).toEqual({ success: false, error: 'Not run: The approval expired' });
    await app.services.maintain();
    expect(await answer(request)).toEqual({ success: false, error: 'Not run: The approval expired' });
  });

  it('comes too late when the approval itself is not used in time', async () => {
    const request = await propose();
    const id = String(request.id).replace('mcpr_omniroute_', '');
    await app.services.approvals.decide(id, 'approved', new Date(time));
    time += 15 * 60_000 + 1;
    expect(await answer(request)).toMatchObject({ success: false, error: expect.stringContaining('expired') });
  });

  it('gets the stored result days later', async () => {
    const request = await propose();
    const result = { success: true, path: 'approved.txt', bytesWritten: 1 };
    expect(await answer(request)).toEqual(result);
    time += 3 * 24 * 3_600_000;
    expect(await answer(request)).toEqual(result);
  });

  it('does not run what is off or gone by then', async () => {
    const off = await propose();
    await changeSkill('file_write', { mode: 'off' });
    expect(await answer(off)).toEqual({ success: false, error: 'Skill file_write@1.0.0 is off' });
    // The approval is not lost.
    await changeSkill('file_write', { mode: 'on' });
    expect(await answer(off)).toMatchObject({ success: true });

    const skill = {
      name: 'reverse-text',
      description: 'Turns a text around',
      schema: { input: { text: 'string' }, output: { reversed: 'string' } },
      handlerCode: 'reverse-text',
      mode: 'on',
    };
    const { body } = await app.call('/api/skills/install', { json: skill });
    await app.call(`/api/skills/${body.id}`, { method: 'PUT', json: { policy: 'hybrid' } });
    const gone = await propose({ text: 'abc' }, 'reverse-text_v1_0_0');
    await app.call(`/api/skills/${body.id}`, { method: 'DELETE' });
    expect(await answer(gone)).toEqual({ success: false, error: 'Not run: skill reverse-text@1.0.0 is no longer installed' });
  });

  it('means no unless it says yes', async () => {
    const request = await propose();
    expect(await answer(request, { approve: 'yes' })).toEqual({ success: false, error: 'Not run: The user declined' });
  });

  it('gives the model no more of the result than the loop would', async () => {
    await changeSkill('file_read', { policy: 'hybrid' });
    const { executor, registry } = app.services;
    const context = { apiKeyId: app.key.id, sessionId: null, requestId: 'r', callId: 'c', signal: new AbortController().signal };
    const write = await registry.find('file_write', app.key.id);
    if (write === undefined) throw new Error('no file_write');
    await executor.execute(write, { path: 'long.txt', content: 'x'.repeat(50_000) }, context);
    const request = await propose({ path: 'long.txt' }, 'file_read_v1_0_0');
    asked = [];
    await send([{ type: 'mcp_approval_response', approval_request_id: request.id ?? null, approve: true }]);
    const text = String(objectsOf(asked[0]?.input)[1]?.output);
    expect(text).toMatch(/\[cut: \d+ of \d+ bytes left out\]$/);
    expect(text.length).toBeLessThan(33_000);
  });
});
