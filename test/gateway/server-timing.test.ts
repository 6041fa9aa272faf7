import { afterEach, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
afterEach(() => app.close());

/** An app whose clock moves only while its model (100 ms) or its skill (30 ms) is at work. */
async function open() {
  const clock = { ms: Date.parse('2026-01-01T00:00:00Z') };
  let round = 0;
  app = await createTestApp({
    now: () => clock.ms,
    async upstream(request) {
      clock.ms += 100;
      round += 1;
      const { stream } = (await request.json()) as { stream?: boolean };
      const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'slow_v1_0_0', arguments: '{}' } };
      const message = round === 1 ? { role: 'assistant', content: null, tool_calls: [call] } : { role: 'assistant', content: 'done' };
      const finish = round === 1 ? 'tool_calls' : 'stop';
      if (!stream) return Response.json({ id: 'c', choices: [{ index: 0, message, finish_reason: finish }] });
      const chunk = JSON.stringify({ id: 'c', choices: [{ index: 0, delta: message, finish_reason: finish }] });
      return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  app.services.executor.registerHandler('slow', async () => {
    clock.ms += 30;
    return {};
  });
  const json = { name: 'slow', description: 'x', schema: {}, handlerCode: 'slow', mode: 'on' };
  expect((await app.call('/api/skills/install', { json })).status).toBe(201);
  return async (headers: Record<string, string> = {}, stream = false) => {
    const json = { model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] };
    const response = await app.request('/v1/chat/completions', { as: app.key.key, json, headers });
    await response.text();
    return response.headers.get('server-timing');
  };
}

it('server-timing tells auth, inject, and all rounds of upstream and tools', async () => {
  const chat = await open();
  expect(await chat()).toBe('auth;dur=0, inject;dur=0, upstream;dur=200, tools;dur=30');
});

it('server-timing of a stream tells what was done before its first byte', async () => {
  const chat = await open();
  expect(await chat({}, true)).toBe('auth;dur=0, inject;dur=0, upstream;dur=100');
});

it('server-timing of a request without skills tells the upstream all the same', async () => {
  const chat = await open();
  expect(await chat({ 'x-omniroute-skills': 'off' })).toBe('auth;dur=0, inject;dur=0, upstream;dur=100');
});
