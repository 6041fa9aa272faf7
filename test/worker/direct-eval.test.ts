import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkerd } from '../../bench/workerd.ts';
import { bundleWorker } from '../../dev/bundle-worker.ts';
import { startWorker } from '../../dev/worker.ts';
import { seedBuiltinSkills } from '../../src/db/seed-builtin-skills.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const folder = mkdtempSync(join(tmpdir(), 'omniroute-direct-'));
beforeAll(async () => {
  database = await createTestDatabase();
  await seedBuiltinSkills(database.db, builtinSkills, { newId: () => crypto.randomUUID(), now: () => new Date() });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.close();
});

interface Running {
  url: string;
  stop(): Promise<void>;
}

const variablesOf = () => ({ LIBSQL_URL: database.url, MANAGEMENT_TOKEN: 'token' });

const RUNTIMES: [string, () => Promise<Running>][] = [
  [
    'Miniflare',
    async () => {
      const worker = await startWorker({ port: 0, variables: variablesOf(), onCrash() {} });
      return { url: String(await worker.ready), stop: () => worker.dispose() };
    },
  ],
  [
    'workerd serve',
    async () => {
      const { urls, stop } = await startWorkerd(
        [{ name: 'product', bundle: await bundleWorker(undefined, true), variables: variablesOf() }],
        folder,
      );
      return { url: `${urls.product}/`, stop };
    },
  ],
];

interface Answer {
  execution: { status: string; errorMessage: string | null; output: Record<string, unknown> | null };
}

describe.each(RUNTIMES)('eval_code in a worker of %s', (_, start) => {
  let running: Running;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.stop());

  async function send<Body>(method: string, path: string, body: unknown): Promise<Body> {
    const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
    const response = await fetch(running.url + path, { method, headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as Body;
  }
  const set = (evalMode: string) => send('PUT', 'api/settings', { evalMode });
  const evaluate = async (code: string) =>
    (await send<Answer>('POST', 'api/skills/executions', { skillName: 'eval_code', input: { code } })).execution;

  it('runs where the setting says, from the next call on', async () => {
    await set('sandbox');
    expect(await evaluate('console.log(1)')).toMatchObject({ status: 'error', errorMessage: 'No sandbox host is available' });
    await set('direct');
    expect(await evaluate('console.log(1)')).toMatchObject({ status: 'success', output: { image: 'quickjs', stdout: '1\n', exitCode: 0 } });
    await set('hybrid');
    expect(await evaluate('console.log(2)')).toMatchObject({ status: 'success', output: { image: 'quickjs', stdout: '2\n' } });
    expect(await evaluate('typeof globalThis.Buffer')).toMatchObject({ status: 'error', errorMessage: 'No sandbox host is available' });
  });

  it('survives programs that take all they can get, and answers others meanwhile', async () => {
    await set('direct');
    const bombs = [
      'for (;;);',
      'const a = []; for (;;) a.push({})',
      '(function f() { try { f() } catch { f() } })()',
      '/^(a+)+$/.test("a".repeat(40) + "b")',
      '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)',
      'let n = 3n; for (;;) n *= n',
      'for (;;) console.log("x".repeat(10000))',
    ];
    const ended = await Promise.all(bombs.map(evaluate));
    for (const { status, output } of ended) expect([status, output?.success]).toEqual(['success', false]);
    expect(ended.map(({ output }) => [output?.killed, output?.oomKilled])).toEqual([
      [true, false],
      [false, true],
      [false, false],
      [true, false],
      [true, false],
      [true, false],
      [true, false],
    ]);
    const codes = Array.from({ length: 20 }, (_, index) => `console.log(${index})`);
    const outputs = await Promise.all(codes.map(evaluate));
    expect(outputs.map(({ output }) => output?.stdout)).toEqual(codes.map((_, index) => `${index}\n`));
  });

  it('gives a program no global of the worker', async () => {
    await set('direct');
    const code =
      'console.log(Object.getOwnPropertyNames(globalThis).filter((name) => /cache|scheduler|self|Worker|HTMLRewriter|Cloudflare/i.test(name)))';
    expect(await evaluate(code)).toMatchObject({ output: { stdout: '[]\n' } });
  });
});
