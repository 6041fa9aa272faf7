import { afterEach, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
afterEach(() => app.close());

async function reasonsOf(settings: Record<string, boolean | string>, headers: Record<string, string>, body: object = {}) {
  app = await createTestApp({
    upstream: () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] }),
  });
  if (Object.keys(settings).length > 0) await app.services.settings.put(settings);
  const json = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }], ...body };
  expect((await app.request('/v1/chat/completions', { as: app.key.key, json, headers })).status).toBe(200);
  return app.entries.filter(({ event }) => event === 'skills.injection.skipped').map(({ reason }) => reason);
}

it.each([
  ['off', {}, { 'x-omniroute-skills': 'off' }, {}],
  ['skills_disabled', { skillsEnabled: false }, {}, {}],
  ['nothing_fits', {}, {}, { n: 2 }],
] as const)('tells that a request gets no skills: %s', async (reason, settings, headers, body) => {
  expect(await reasonsOf(settings, headers, body)).toEqual([reason]);
});

it('tells nothing where there are no skills', async () => {
  app = await createTestApp({
    upstream: () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] }),
  });
  await app.database.client.execute('DELETE FROM skills');
  await app.request('/v1/chat/completions', { as: app.key.key, json: { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] } });
  expect(app.entries.filter(({ event }) => String(event).startsWith('skills.injection'))).toEqual([]);
});
