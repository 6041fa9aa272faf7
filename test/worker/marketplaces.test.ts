import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type MarketplaceServer, SKILLSMP_KEY, startMarketplaceServer } from '../support/marketplace-server.ts';

let database: TestDatabase;
let server: MarketplaceServer;
let worker: Miniflare;
let url: string;

beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), startMarketplaceServer()]);
  worker = await startWorker({ port: 0, variables: { LIBSQL_URL: database.url, MANAGEMENT_TOKEN: 'token' }, onCrash() {} });
  url = String(await worker.ready);
  const { url: skillsmpBaseUrl } = server;
  const settings = { skillsmpApiKey: SKILLSMP_KEY, skillsmpBaseUrl, githubRawBaseUrl: `${skillsmpBaseUrl}/raw` };
  expect((await call('/api/settings', 'PUT', settings)).status).toBe(200);
});
afterAll(async () => {
  await worker?.dispose();
  await Promise.all([server?.close(), database?.close()]);
});

async function call(path: string, method = 'GET', body?: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const headers = { authorization: 'Bearer token' };
  const response = await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
const install = (githubUrl: string) => call('/api/skills/marketplace/install', 'POST', { githubUrl });
const run = (skillName: string) => call('/api/skills/executions', 'POST', { skillName });

it('in the Workers runtime a skill is searched, installed and run', async () => {
  server.skills.push({ source: 'acme/tools', skillId: 'ledger', description: 'Keep a ledger', popularity: 3 });
  server.files.set(
    'acme/tools/master/skills/ledger/SKILL.md',
    '---\nname: ledger\ndescription: Keep a ledger: with care\n---\nWrite it down. é',
  );
  const { body: found } = await call('/api/skills/marketplace?q=ledger');
  const [listing] = found.skills as JsonObject[];
  const installed = await call('/api/skills/marketplace/install', 'POST', listing);
  expect(installed).toMatchObject({ status: 201, body: { name: 'ledger', version: '1.0.0', riskFindings: [] } });
  expect((await run('ledger')).body.execution).toMatchObject({ status: 'success', output: { instructions: 'Write it down. é' } });
});

it('in the Workers runtime redirects stay within the host, and long files are cut off', async () => {
  const file = '/raw/acme/tools/main/x/SKILL.md';
  const githubUrl = 'https://github.com/acme/tools/blob/main/x/SKILL.md';
  server.overrides.set(file, (_, response) => void response.writeHead(301, { location: '/raw/moved' }).end());
  server.files.set('moved', 'x'.repeat(1_048_576));
  expect(await install(githubUrl)).toMatchObject({ status: 413, body: { code: 'skill_too_large' } });
  server.overrides.set(file, (_, response) => void response.writeHead(301, { location: 'http://localhost:1/' }).end());
  expect(await install(githubUrl)).toMatchObject({ status: 502, body: { code: 'marketplace_failed' } });
  server.overrides.set(file, (_, response) => void response.destroy());
  expect(await install(githubUrl)).toMatchObject({ status: 502, body: { code: 'marketplace_unreachable' } });
});
