import type { JsonObject } from '../../src/json.ts';
import type { Skill } from '../../src/skills/skill.ts';
import type { TestApp, TestAppOptions, TestRequest } from './app.ts';

/** A request that an endpoint answers with success. */
export interface Sample extends Pick<TestRequest, 'method' | 'json' | 'as'> {
  method: string;
  path: string;
}

let made = 0;
const uniqueName = (): string => {
  made += 1;
  return `sample-${made}`;
};

const SKILL_FILE = (name: string) => `---\nname: ${name}\ndescription: Reads invoices\n---\nAdd up the lines.\n`;

/** Answers what the samples make the gateway ask of the world: SKILL.md of any name. */
export const sampleUpstream: NonNullable<TestAppOptions['upstream']> = ({ url }) => {
  const name = /\/([\w-]+)\/SKILL\.md$/.exec(url)?.[1];
  return name === undefined ? Response.json({ data: [], models: [], skills: [] }) : new Response(SKILL_FILE(name));
};

const installation = (): JsonObject => ({
  name: uniqueName(),
  description: 'Answers its input',
  schema: { input: { text: 'string' } },
  handlerCode: 'echo-handler',
});

const webhook = (): JsonObject => ({ name: uniqueName(), url: 'https://hooks.example.com/run', secret: 's'.repeat(32) });

async function make(app: TestApp, path: string, json: JsonObject): Promise<string> {
  const { status, body } = await app.call(path, { json });
  if (status !== 201) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`);
  return body.id as string;
}

export const makeSkill = (app: TestApp, fields: JsonObject = {}): Promise<string> =>
  make(app, '/api/skills/install', { ...installation(), ...fields });

/** An execution of the app's key. */
export async function makeExecution(app: TestApp): Promise<string> {
  const { body } = await app.call('/api/skills/executions', {
    as: app.key.key,
    json: { skillId: await makeSkill(app), input: { text: 'a' } },
  });
  return (body.execution as JsonObject).id as string;
}

/** An approval that waits for a decision about a call of the app's key. */
export async function makeApproval(app: TestApp): Promise<string> {
  const skill = (await app.services.skills.get(await makeSkill(app))) as Skill;
  const requestId = crypto.randomUUID();
  const context = { apiKeyId: app.key.id, sessionId: null, requestId, logId: requestId, callId: 'c', signal: new AbortController().signal };
  return (await app.services.executor.park(skill, { text: 'a' }, context)).approvalId;
}

/** How to make a sample of each endpoint of the REST API, by method and path as the OpenAPI document has them. */
export const SAMPLES: Readonly<Record<string, (app: TestApp) => Omit<Sample, 'method'> | Promise<Omit<Sample, 'method'>>>> = {
  'get /healthz': () => ({ path: '/healthz' }),
  'get /openapi.json': () => ({ path: '/openapi.json' }),
  'get /api/skills': () => ({ path: '/api/skills?q=file' }),
  'post /api/skills/install': () => ({ path: '/api/skills/install', json: installation() }),
  'get /api/skills/{id}': async (app) => ({ path: `/api/skills/${await makeSkill(app)}` }),
  'put /api/skills/{id}': async (app) => ({ path: `/api/skills/${await makeSkill(app)}`, json: { mode: 'auto', tags: ['a'] } }),
  'delete /api/skills/{id}': async (app) => ({ path: `/api/skills/${await makeSkill(app)}` }),
  'get /api/skills/marketplace': (app) => ({ path: '/api/skills/marketplace', as: app.key.key }),
  'post /api/skills/marketplace/install': () => ({
    path: '/api/skills/marketplace/install',
    json: { githubUrl: `https://github.com/acme/tools/tree/main/skills/${uniqueName()}` },
  }),
  'get /api/skills/skillssh': (app) => ({ path: '/api/skills/skillssh', as: app.key.key }),
  'post /api/skills/skillssh/install': async (app) => {
    await app.services.settings.put({ skillsProvider: 'skillssh' });
    return { path: '/api/skills/skillssh/install', json: { source: 'acme/tools', skillId: uniqueName() } };
  },
  'get /api/skills/executions': (app) => ({ path: '/api/skills/executions', as: app.key.key }),
  'get /api/skills/executions/{id}': async (app) => ({ path: `/api/skills/executions/${await makeExecution(app)}`, as: app.key.key }),
  'post /api/skills/executions': async (app) => ({
    path: '/api/skills/executions',
    as: app.key.key,
    json: { skillId: await makeSkill(app), input: { text: 'a' } },
  }),
  'get /api/skills/approvals': (app) => ({ path: '/api/skills/approvals', as: app.key.key }),
  'post /api/skills/approvals/{id}/approve': async (app) => ({
    path: `/api/skills/approvals/${await makeApproval(app)}/approve`,
    as: app.key.key,
  }),
  'post /api/skills/approvals/{id}/deny': async (app) => ({
    path: `/api/skills/approvals/${await makeApproval(app)}/deny`,
    as: app.key.key,
  }),
  'get /api/handlers': () => ({ path: '/api/handlers' }),
  'post /api/handlers': () => ({ path: '/api/handlers', json: webhook() }),
  'get /api/handlers/{id}': async (app) => ({ path: `/api/handlers/${await make(app, '/api/handlers', webhook())}` }),
  'put /api/handlers/{id}': async (app) => ({
    path: `/api/handlers/${await make(app, '/api/handlers', webhook())}`,
    json: { timeoutMs: 5_000 },
  }),
  'delete /api/handlers/{id}': async (app) => ({ path: `/api/handlers/${await make(app, '/api/handlers', webhook())}` }),
  'get /api/settings': () => ({ path: '/api/settings' }),
  'put /api/settings': () => ({ path: '/api/settings', json: { maxRounds: 7, autoMinScore: 4, fallbackModels: ['a', 'b'] } }),
  'get /api/keys': () => ({ path: '/api/keys' }),
  'get /api/sandbox/pools': () => ({ path: '/api/sandbox/pools' }),
  'post /api/keys': () => ({ path: '/api/keys', json: { name: uniqueName() } }),
  'put /api/keys/{id}': async (app) => ({
    path: `/api/keys/${await make(app, '/api/keys', { name: uniqueName() })}`,
    json: { routingMemory: true },
  }),
  'delete /api/keys/{id}': async (app) => ({ path: `/api/keys/${await make(app, '/api/keys', { name: uniqueName() })}` }),
};

export async function makeSample(app: TestApp, operation: string): Promise<Sample> {
  const sample = SAMPLES[operation];
  if (sample === undefined) throw new Error(`test/support/api-samples.ts has no sample of ${operation}`);
  return { method: (operation.split(' ')[0] ?? '').toUpperCase(), ...(await sample(app)) };
}
