import { expect, it } from 'vitest';
import { createTestApp, MANAGEMENT_TOKEN } from '../support/app.ts';

const install = { name: 'x', description: 'x', schema: {}, handlerCode: 'echo-handler' };
const chat = { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] };

it('every endpoint answers 503 when the database is gone, and says no more than that', async () => {
  const app = await createTestApp();
  await app.close();
  const requests = [
    ['GET', '/api/skills', undefined],
    ['GET', '/api/skills?q=x', undefined],
    ['GET', '/api/skills/x', undefined],
    ['PUT', '/api/skills/x', { enabled: true }],
    ['DELETE', '/api/skills/x', undefined],
    ['POST', '/api/skills/install', install],
    ['POST', '/api/skills/install', { ...install, apiKeyId: 'x' }],
    ['GET', '/api/skills/executions', undefined],
    ['GET', '/api/skills/executions/x', undefined],
    ['POST', '/api/skills/executions', { skillName: 'x' }],
    ['GET', '/api/settings', undefined],
    ['PUT', '/api/settings', { maxRounds: 3 }],
    ['GET', '/api/keys', undefined],
    ['POST', '/api/keys', { name: 'x' }],
    ['DELETE', '/api/keys/x', undefined],
  ] as const;
  for (const [method, path, json] of requests) {
    const { status, body } = await app.call(path, { method, as: MANAGEMENT_TOKEN, ...(json && { json }) });
    expect([method, path, status, body]).toEqual([
      method,
      path,
      503,
      { error: 'The database cannot be reached', code: 'database_unavailable' },
    ]);
  }
  const { status, body } = await app.call('/v1/chat/completions', { as: app.key.key, json: chat });
  expect([status, body]).toMatchObject([503, { error: { code: 'database_unavailable' } }]);
});

it('a key that was used a moment ago still opens the gateway', async () => {
  const app = await createTestApp({ upstream: () => Response.json({ choices: [] }) });
  const send = () => app.request('/v1/chat/completions', { as: app.key.key, json: chat, headers: { 'x-omniroute-skills': 'off' } });
  expect((await send()).status).toBe(200);
  await app.close();
  expect((await send()).status).toBe(200);
});
