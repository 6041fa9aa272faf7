import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import { seedBuiltinSkills } from '../../src/db/seed-builtin-skills.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { connectMcp, type McpClient, type McpClientOptions } from '../support/mcp-clients.ts';

const TOKEN = 'management-token';

let database: TestDatabase;
let workers: Miniflare[];
/** A sandbox-host that takes every run and never answers. */
let host: Server;
let hostLeft = 0;
let urls: string[] = [];

beforeAll(async () => {
  // Miniflare prints there what the workers log.
  vi.spyOn(console, 'log').mockImplementation(() => {});
  database = await createTestDatabase();
  await seedBuiltinSkills(database.db, builtinSkills, { newId: () => crypto.randomUUID(), now: () => new Date() });
  host = createServer((_, response) => {
    response.on('close', () => {
      hostLeft += 1;
    });
  });
  await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
  const hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const variables = {
    LIBSQL_URL: database.url,
    MANAGEMENT_TOKEN: TOKEN,
    SANDBOX_SECRET: 'secret-of-32-characters-or-more!',
    SANDBOX_POOLS: JSON.stringify([{ name: 'test', urls: [hostUrl] }]),
  };
  workers = await Promise.all([0, 1].map(() => startWorker({ port: 0, variables, onCrash() {} })));
  urls = await Promise.all(workers.map(async (worker) => String(await worker.ready)));
});
afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.dispose()));
  host?.closeAllConnections();
  host?.close();
  await database?.close();
  vi.restoreAllMocks();
});

/** The first isolate gets the calls; answers and cancellations go to the second, as a load balancer might have it. */
const spread: NonNullable<McpClientOptions['fetch']> = (url, init) => {
  const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as JsonObject) : {};
  const isCall = body.method !== undefined && body.method !== 'notifications/cancelled';
  return fetch(new URL(new URL(url).pathname, urls[isCall ? 0 : 1]), init);
};

async function connect(kind: 'present-handshake' | 'earlier', options: Partial<McpClientOptions> = {}): Promise<McpClient> {
  return connectMcp(kind, { url: `${urls[0]}mcp`, key: TOKEN, fetch: spread, ...options });
}

const rest = async (method: string, path: string, json?: unknown) => {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, urls[1]), { method, headers, ...(json !== undefined && { body: JSON.stringify(json) }) });
  return (await response.json()) as JsonObject;
};

describe.each(['present-handshake', 'earlier'] as const)('with the client %s, whose requests are spread over isolates', (kind) => {
  it('an answer finds the call that waits for it', async () => {
    const name = `careful-${kind}`;
    const skill = { name, description: 'Echo', schema: { input: {} }, handlerCode: 'echo-handler' };
    const { id } = await rest('POST', '/api/skills/install', skill);
    await rest('PUT', `/api/skills/${id}`, { policy: 'hybrid' });
    const actions = ['accept', 'decline'] as const;
    for (const action of actions) {
      const client = await connect(kind, { elicit: () => action });
      const result = await client.call('omniroute_skills_execute', { skillName: name, input: { action } });
      const status = action === 'accept' ? 'success' : 'error';
      expect(result).toMatchObject({ isError: status === 'error', structuredContent: { execution: { status } } });
      await client.close();
    }
  });

  it('a cancellation ends the run, down to the sandbox-host', async () => {
    const left = hostLeft;
    const client = await connect(kind);
    const controller = new AbortController();
    const input = { command: 'sleep', args: [50], timeoutMs: 55_000 };
    const call = client.call('omniroute_skills_execute', { skillName: 'execute_command', input }, { signal: controller.signal });
    const last = async () => objectsOf((await rest('GET', '/api/skills/executions')).data)[0];
    await Promise.all([
      vi
        .waitFor(async () => expect(await last()).toMatchObject({ skillName: 'execute_command', status: 'running' }), { timeout: 15_000 })
        .then(() => controller.abort()),
      expect(call).rejects.toThrow(),
    ]);
    await vi.waitFor(
      async () => expect(await last()).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client asked for it' }),
      { timeout: 15_000 },
    );
    await vi.waitFor(() => expect(hostLeft).toBeGreaterThan(left), { timeout: 15_000 });
    await client.close();
  });
});
