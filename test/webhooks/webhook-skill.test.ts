import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { signBody } from '../../src/webhooks/sign-body.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createInternet, DNS_URL } from '../support/fake-internet.ts';

const SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const hosts = { 'hooks.example.com': ['93.184.215.14'], 'new.example.com': ['93.184.215.15'] };

interface Delivery {
  url: string;
  signature: string;
  text: string;
  body: JsonObject;
}

let app: TestApp;
/** What the endpoint was sent, and what it answers, one after the other; the last again and again. */
let deliveries: Delivery[];
let answers: (() => Response)[];
let modelReplies: JsonObject[];
let modelRequests: JsonObject[];

beforeEach(async () => {
  deliveries = [];
  answers = [() => Response.json({ degrees: 21 })];
  modelReplies = [];
  modelRequests = [];
  const internet = createInternet({
    hosts,
    site: async (request) => {
      const text = await request.text();
      const signature = request.headers.get('x-omniroute-signature') ?? '';
      deliveries.push({ url: request.url, signature, text, body: JSON.parse(text) as JsonObject });
      return (answers[Math.min(deliveries.length, answers.length) - 1] as () => Response)();
    },
  });
  app = await createTestApp({
    variables: { DNS_OVER_HTTPS_URL: DNS_URL },
    upstream: async (request) => {
      if (!request.url.includes('upstream.example')) return internet.fetch(request);
      modelRequests.push((await request.json()) as JsonObject);
      return Response.json(modelReplies[modelRequests.length - 1] ?? {});
    },
  });
  await app.call('/api/handlers', { json: { name: 'weather', url: 'https://hooks.example.com/', secret: SECRET } });
});
afterEach(() => app.close());

const schema = {
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  output: { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
};
const install = async (fields: JsonObject = {}) => {
  const json = { name: 'forecast', description: 'Tells the weather', schema, handlerCode: 'weather', ...fields };
  return (await app.call('/api/skills/install', { json })).body.id as string;
};
const execute = async (input: JsonObject = { city: 'Oslo' }, fields: JsonObject = {}) => {
  const { status, body } = await app.call('/api/skills/executions', { as: app.key.key, json: { skillName: 'forecast', input, ...fields } });
  expect(status).toBe(200);
  return body.execution as JsonObject;
};
const behindOurBack = (sql: string, args: string[] = []) => app.database.client.execute({ sql, args });

describe('a skill on a webhook', () => {
  it('is run by it, and recorded', async () => {
    await install({ version: '1.2.3' });
    const execution = await execute({ city: 'Oslo' }, { sessionId: 's-1' });
    expect(execution).toMatchObject({ status: 'success', output: { degrees: 21 }, attempts: 1, skillName: 'forecast' });
    expect(deliveries).toMatchObject([
      {
        url: 'https://hooks.example.com/',
        signature: expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
        body: {
          skill: 'forecast',
          version: '1.2.3',
          input: { city: 'Oslo' },
          context: { apiKeyId: app.key.id, sessionId: 's-1', executionId: execution.id },
          deliveryId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      },
    ]);
    expect((await app.call(`/api/skills/executions/${execution.id}`)).body).toEqual(execution);
  });

  it('serves a model, which reads the reason of a refusal and may do better', async () => {
    await install();
    answers = [() => Response.json({ error: 'No such city: Olso' }, { status: 404 }), () => Response.json({ degrees: 3 })];
    const call = (id: string, city: string) => ({
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name: 'forecast_v1_0_0', arguments: JSON.stringify({ city }) } }],
          },
        },
      ],
    });
    modelReplies = [
      call('call_1', 'Olso'),
      call('call_2', 'Oslo'),
      { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Three degrees.' } }] },
    ];
    const json = { model: 'gpt', messages: [{ role: 'user', content: 'How warm is it in Olso?' }] };
    const { status, body } = await app.call('/v1/chat/completions', { as: app.key.key, json });
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('Three degrees.')]);
    const results = objectsOf(modelRequests.at(-1)?.messages)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => content);
    expect(results).toEqual([expect.stringContaining('No such city: Olso'), '{"degrees":3}']);
    expect(JSON.stringify(modelRequests)).not.toContain('hooks.example.com');
  });

  it('gets no input that does not fit its schema, and gives no output that does not', async () => {
    await install();
    expect(await execute({ city: 5 })).toMatchObject({ status: 'error', errorMessage: expect.stringContaining('city') });
    expect(deliveries).toEqual([]);
    answers = [() => Response.json({ degrees: 'warm' })];
    expect(await execute()).toMatchObject({
      status: 'error',
      output: null,
      errorMessage: expect.stringMatching(/^Output does not fit the skill's schema: output\.degrees/),
    });
  });

  it('uses the URL and the secret that another isolate gave it a moment ago', async () => {
    await install();
    await execute();
    const secret = 'n'.repeat(32);
    await behindOurBack("UPDATE webhooks SET url = 'https://new.example.com/v2', secret = ?", [secret]);
    await execute();
    expect(deliveries.map(({ url }) => url)).toEqual(['https://hooks.example.com/', 'https://new.example.com/v2']);
    const { text, signature } = deliveries[1] as Delivery;
    const time = Number(/t=(\d+)/.exec(signature)?.[1]);
    expect(signature).toBe(await signBody(text, secret, new Date(time * 1_000)));
  });

  it('says so when another isolate has taken the webhook away, and works again when it is back', async () => {
    await install();
    await behindOurBack("UPDATE webhooks SET name = 'moved'");
    expect(await execute()).toMatchObject({ status: 'error', errorMessage: 'There is no handler named weather any more', attempts: 1 });
    await behindOurBack("UPDATE webhooks SET name = 'weather'");
    expect(await execute()).toMatchObject({ status: 'success' });
  });

  it('is a function of the release when that has the same name by now', async () => {
    await install();
    app.services.executor.registerHandler('weather', async () => ({ degrees: -1 }));
    expect(await execute()).toMatchObject({ output: { degrees: -1 } });
    expect(deliveries).toEqual([]);
  });

  it('is not asked while it is off', async () => {
    await install();
    await execute();
    await behindOurBack("UPDATE skills SET mode = 'off', enabled = 0 WHERE name = 'forecast'");
    const { status } = await app.call('/api/skills/executions', { json: { skillName: 'forecast', input: { city: 'Oslo' } } });
    expect([status, deliveries.length]).toEqual([409, 1]);
  });

  it('leaves its secret in no log, history or error', async () => {
    await install();
    answers = [() => Response.json({ error: `expected ${SECRET}` }, { status: 422 }), () => Promise.reject(new Error(SECRET)) as never];
    expect(await execute()).toMatchObject({ status: 'error', errorMessage: 'expected [secret]' });
    expect(await execute()).toMatchObject({ status: 'error', errorMessage: 'The webhook cannot be reached' });
    const { rows } = await behindOurBack('SELECT * FROM skill_executions');
    expect(JSON.stringify([rows, app.entries])).not.toContain(SECRET);
  });
});

describe('a webhook that fails for a moment', () => {
  const busy = (status: number) => () => new Response('busy', { status });

  it.each([429, 500, 503])('is asked again after %i when its skill is idempotent, with the same execution', async (status) => {
    await install({ idempotent: true });
    answers = [busy(status), busy(status), () => Response.json({ degrees: 1 })];
    const execution = await execute();
    expect(execution).toMatchObject({ status: 'success', attempts: 3 });
    const ids = deliveries.map(({ body }) => (body.context as JsonObject).executionId);
    expect(ids).toEqual([execution.id, execution.id, execution.id]);
    expect(new Set(deliveries.map(({ signature }) => signature)).size).toBe(3);
  });

  it.each([429, 503])('is asked once after %i otherwise', async (status) => {
    await install();
    answers = [busy(status), () => Response.json({ degrees: 1 })];
    expect(await execute()).toMatchObject({ status: 'error', attempts: 1, errorMessage: `The webhook answered with status ${status}` });
    expect(deliveries).toHaveLength(1);
  });

  it.each([400, 401, 404, 422])('is not asked again after %i, which would only come again', async (status) => {
    await install({ idempotent: true });
    answers = [busy(status), () => Response.json({ degrees: 1 })];
    expect(await execute()).toMatchObject({ status: 'error', attempts: 1 });
  });

  it('is asked no more often than its skill allows', async () => {
    const id = await install();
    await app.call(`/api/skills/${id}`, { method: 'PUT', json: { idempotent: true, maxRetries: 1 } });
    answers = [busy(503)];
    expect(await execute()).toMatchObject({ status: 'error', attempts: 2 });
    expect(deliveries).toHaveLength(2);
  });
});
