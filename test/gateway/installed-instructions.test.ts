import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp, UPSTREAM_URL } from '../support/app.ts';
import { type MarketplaceServer, startMarketplaceServer } from '../support/marketplace-server.ts';

const WIRE_NAME = 'invoice-reader_v1_0_0';
const INSTRUCTIONS = '# Invoices\n\nAdd up the lines first: é 🧾.';

let server: MarketplaceServer;
let app: TestApp;
/** What the model was asked, in the order of its rounds. */
const asked: JsonObject[] = [];

/** Calls the installed skill when it is offered and has not answered yet, then says what it was told. */
async function answerAsModel(request: Request): Promise<Response> {
  const body = (await request.json()) as JsonObject & { messages: JsonObject[]; tools?: { function: JsonObject }[] };
  asked.push(body);
  const result = body.messages.find(({ role }) => role === 'tool');
  const isOffered = body.tools?.some((tool) => tool.function.name === WIRE_NAME);
  const call = { id: 'call_1', type: 'function', function: { name: WIRE_NAME, arguments: '{"task":"check a total"}' } };
  const message =
    isOffered && result === undefined
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: `I was told: ${result?.content ?? 'nothing'}` };
  return Response.json({ id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }] });
}

beforeAll(async () => {
  server = await startMarketplaceServer();
  app = await createTestApp({ upstream: (request) => (request.url.startsWith(UPSTREAM_URL) ? answerAsModel(request) : fetch(request)) });
  const settings = { skillsProvider: 'skillssh', skillsshBaseUrl: server.url, githubRawBaseUrl: `${server.url}/raw` };
  await app.call('/api/settings', { method: 'PUT', json: settings });
  server.files.set(
    'acme/tools/main/skills/invoice-reader/SKILL.md',
    `---\nname: invoice-reader\ndescription: Read invoices and check their totals\ntags: invoices\n---\n${INSTRUCTIONS}\n`,
  );
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const chat = (content: string, as = app.key.key) =>
  app.call('/v1/chat/completions', { as, json: { model: 'm', messages: [{ role: 'user', content }] } });
const install = (as?: string) =>
  app.call('/api/skills/skillssh/install', { ...(as && { as }), json: { source: 'acme/tools', skillId: 'invoice-reader' } });
const injected = (headers: Headers) => headers.get('x-omniroute-skills-injected') ?? '';

it('an installed skill is offered when it fits, and its call gives its instructions to the model', async () => {
  const { body: before } = await chat('Please check the invoices of May');
  expect(JSON.stringify(before)).toContain('I was told: nothing');

  expect((await install()).status).toBe(201);
  asked.length = 0;
  const { status, body, headers } = await chat('Please check the invoices of May');
  expect(status).toBe(200);
  expect(injected(headers)).toContain('invoice-reader@1.0.0');
  const [first, second] = asked as { tools: { function: JsonObject }[]; messages: JsonObject[] }[];
  expect(first?.tools.find((tool) => tool.function.name === WIRE_NAME)?.function).toMatchObject({
    description: 'Read invoices and check their totals',
    parameters: { type: 'object', properties: { task: { type: 'string' } } },
  });
  const result = JSON.parse(second?.messages.at(-1)?.content as string) as JsonObject;
  expect(result).toEqual({ success: true, instructions: INSTRUCTIONS });
  expect(JSON.stringify(body)).toContain('Add up the lines first');
  expect((body.omniroute as JsonObject).executions).toMatchObject([{ skill: 'invoice-reader@1.0.0', status: 'success' }]);

  const { body: list } = await app.call('/api/skills/executions?skill=invoice-reader', { as: app.key.key });
  expect(list.data).toMatchObject([{ skillName: 'invoice-reader', input: { task: 'check a total' }, output: result, status: 'success' }]);
});

it('is not offered when it does not fit, and runs for who asks for it', async () => {
  const { headers } = await chat('What is the best way to Rome?');
  expect(injected(headers)).not.toContain('invoice-reader');
  const run = await app.call('/api/skills/executions', { as: app.key.key, json: { skillName: 'invoice-reader' } });
  expect(run.body.execution).toMatchObject({ status: 'success', output: { success: true, instructions: INSTRUCTIONS } });
});

it('is seen by the key that installed it alone', async () => {
  server.files.set('acme/tools/main/skills/ledger/SKILL.md', '---\nname: ledger\ndescription: Keep a ledger\n---\nWrite it down.');
  const { key } = await app.createKey(['chat', 'write:skills']);
  const { status } = await app.call('/api/skills/skillssh/install', { as: key, json: { source: 'acme/tools', skillId: 'ledger' } });
  expect(status).toBe(201);
  expect(injected((await chat('Please open the ledger', key)).headers)).toContain('ledger@1.0.0');
  expect(injected((await chat('Please open the ledger')).headers)).not.toContain('ledger');
});
