import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let round = 0;
const message = (content: string | null, calls: object[]) => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
});
beforeAll(async () => {
  app = await createTestApp({
    upstream: () => {
      round += 1;
      const call = { id: 'call_1', type: 'function', function: { name: 'file_read_v1_0_0', arguments: '{"path":"secret-path"}' } };
      const reply = round === 1 ? message(null, [call]) : message('secret answer', []);
      return Response.json({ id: 'c', choices: [{ index: 0, message: reply, finish_reason: round === 1 ? 'tool_calls' : 'stop' }] });
    },
  });
});
afterAll(() => app.close());

it('a request with a call is logged by its events, without key, prompt, arguments or results', async () => {
  const response = await app.request('/v1/chat/completions', {
    method: 'POST',
    as: app.key.key,
    json: { model: 'm', messages: [{ role: 'user', content: 'secret prompt' }] },
  });
  expect(await response.text()).toContain('secret answer');
  expect(app.entries.map(({ event }) => event)).toEqual(
    expect.arrayContaining([
      'skills.injection.injected',
      'skills.interception.tool_call_detected',
      'skills.interception.builtin_tool_detected',
      'skills.executor.start',
      'skills.executor.complete',
      'skills.interception.execution_failed',
    ]),
  );
  const text = JSON.stringify(app.entries);
  expect(text).not.toContain('secret');
  expect(text).not.toContain(app.key.key);
  expect(response.headers.get('server-timing')).toMatch(/auth;dur=.*inject;dur=.*upstream;dur=.*tools;dur=/);
});
