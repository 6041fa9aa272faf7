import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startLibsqlServer } from '../../dev/libsql-server.ts';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
import { findFreePort } from '../../dev/stack/ports.ts';
import type { Environment } from '../../dev/stack/settings.ts';
import { listDescendants, waitUntilGone } from '../support/processes.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const SMALL_WORKER = join(import.meta.dirname, '../dev/fixtures/small-worker.ts');

interface Told {
  env: Record<string, string>;
  scheduledCalls: number;
}

const stacks: TestStack[] = [];
const start = async (env: Environment = {}): Promise<TestStack> => {
  const stack = await startTestStack(env, { workerEntry: SMALL_WORKER });
  stacks.push(stack);
  return stack;
};
const ask = async (stack: { url: string }): Promise<Told> => (await (await fetch(`${stack.url}/told`)).json()) as Told;

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-stack-test-'));
  folders.push(folder);
  return folder;
};

afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const findPart = (name: string): number => {
  const found = listDescendants(process.pid).find(({ command }) => command.includes(name));
  if (found === undefined) throw new Error(`no process runs ${name}`);
  return found.pid;
};

describe('startStack', () => {
  it('starts every part, tells the worker of them and calls its scheduled handler', async () => {
    const stack = await start({ SKILLS_MAX_FILE_BYTES: '7', UNRELATED: 'x' });
    const { env, scheduledCalls } = await ask(stack);
    expect(scheduledCalls).toBeGreaterThanOrEqual(1);
    expect(Object.keys(env).sort()).toEqual(
      ['LIBSQL_URL', 'MANAGEMENT_TOKEN', 'PROVIDERS', 'PUBLIC_NETWORK', 'SANDBOX_POOLS', 'SANDBOX_SECRET', 'SKILLS_MAX_FILE_BYTES'].sort(),
    );
    expect(env.MANAGEMENT_TOKEN).toBe(stack.managementToken);
    expect(stack.apiKey).toMatch(/^omr_/);

    const providers = JSON.parse(env.PROVIDERS ?? '') as { name: string; format: string; baseUrl: string; models: string[] }[];
    const url = providers[1]?.baseUrl ?? '';
    const models = ['scripted-demo', 'scripted-*'];
    expect(providers).toEqual([
      { name: 'scripted', format: 'openai', baseUrl: `${url}/v1`, models },
      { name: 'scripted-anthropic', format: 'anthropic', baseUrl: url, models },
      { name: 'scripted-gemini', format: 'gemini', baseUrl: url, models },
    ]);
    for (const path of ['/v1/models', '/v1beta/models']) expect((await fetch(`${url}${path}`)).status).toBe(200);
    const [pool] = JSON.parse(env.SANDBOX_POOLS ?? '') as [{ name: string; urls: [string] }];
    expect(pool.name).toBe('local');
    expect((await fetch(`${pool.urls[0]}/healthz`)).status).toBe(200);

    const tables = await fetch(`${env.LIBSQL_URL}/v2/pipeline`, {
      method: 'POST',
      body: JSON.stringify({ requests: [{ type: 'execute', stmt: { sql: "SELECT count(*) FROM sqlite_master WHERE name = 'skills'" } }] }),
    });
    expect(JSON.stringify(await tables.json())).toContain('"value":"1"');
  });

  it('keeps what it makes up in a file of the owner alone, and uses it again', async () => {
    const folder = newFolder();
    const first = await startTestStack({ DATA_DIR: folder }, { workerEntry: SMALL_WORKER });
    stacks.push(first);
    const file = join(folder, 'credentials.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(readFileSync(file, 'utf8')) as { managementToken: string; sandboxSecret: string; apiKey: { key: string } };
    expect(stored.managementToken).toBe(first.managementToken);
    expect(stored.apiKey.key).toBe(first.apiKey);
    await first.stop();

    const again = await start({ DATA_DIR: folder, MANAGEMENT_TOKEN: '' });
    expect(again.managementToken).toBe(first.managementToken);
    expect((await ask(again)).env.SANDBOX_SECRET).toBe(stored.sandboxSecret);
    // This worker has forgotten the key of the first one.
    expect(again.apiKey).not.toBe(first.apiKey);
  });

  it('uses what the environment names', async () => {
    const stack = await start({
      MANAGEMENT_TOKEN: 'my-own-token',
      SANDBOX_POOLS: '[{"name":"mine","urls":["http://127.0.0.1:1"]}]',
      PROVIDERS: '[{"name":"mine","format":"openai","baseUrl":"http://127.0.0.1:1/v1","apiKeySecret":"MY_KEY"}]',
      MY_KEY: 'secret',
    });
    expect(stack.managementToken).toBe('my-own-token');
    expect((await ask(stack)).env).toMatchObject({
      MANAGEMENT_TOKEN: 'my-own-token',
      SANDBOX_POOLS: '[{"name":"mine","urls":["http://127.0.0.1:1"]}]',
      MY_KEY: 'secret',
    });
    const commands = listDescendants(process.pid).map(({ command }) => command);
    expect(commands.some((command) => command.includes('scripted-model.ts'))).toBe(false);
    expect(commands.some((command) => command.includes('sandbox-host/start.mjs'))).toBe(false);
  });

  it('leaves no process when it stops', async () => {
    const stack = await start();
    const running = listDescendants(process.pid);
    expect(running.length).toBeGreaterThanOrEqual(5);
    await stack.stop();
    expect(await stack.ended).toBeUndefined();
    await waitUntilGone(running);
  });

  it.each([
    ['dev/libsql-server.ts', 'libsql ended (SIGKILL)'],
    ['sandbox-host/start.mjs', 'sandbox-host ended (SIGKILL)'],
    ['dev/worker.ts', 'worker ended (SIGKILL)'],
    ['workerd serve', 'worker ended (exit code 1): workerd crashed'],
  ])('stops all parts and says so when %s is killed', async (program, sentence) => {
    const stack = await start();
    const running = listDescendants(process.pid);
    process.kill(findPart(program), 'SIGKILL');
    expect(await stack.ended).toContain(sentence);
    await waitUntilGone(running);
  });

  it('runs beside another one', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.url).not.toBe(two.url);
    expect((await ask(one)).env.MANAGEMENT_TOKEN).not.toBe((await ask(two)).env.MANAGEMENT_TOKEN);
  });

  it('runs under wrangler dev', async () => {
    const stack = await startTestStack(
      {
        MY_KEY: 'it\'s "quoted" $HOME',
        PROVIDERS: '[{"name":"m","format":"openai","baseUrl":"http://127.0.0.1:1/v1","apiKeySecret":"MY_KEY"}]',
      },
      { workerEntry: SMALL_WORKER, wrangler: true },
    );
    stacks.push(stack);
    const { env, scheduledCalls } = await ask(stack);
    expect(env).toMatchObject({ MANAGEMENT_TOKEN: stack.managementToken, MY_KEY: 'it\'s "quoted" $HOME' });
    expect(scheduledCalls).toBeGreaterThanOrEqual(1);
    const running = listDescendants(process.pid);
    await stack.stop();
    await waitUntilGone(running);
  });
});

describe('a stack that cannot start', () => {
  it.each(['PORT', 'LIBSQL_PORT', 'SANDBOX_PORT'])('names %s when its port is taken, before anything starts', async (variable) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const folder = newFolder();
    try {
      await expect(start({ [variable]: String(port), DATA_DIR: folder })).rejects.toThrow(
        `Port ${port} is taken: set ${variable} to another one`,
      );
      expect(listDescendants(process.pid).filter(({ command }) => command.includes('end-with-parent'))).toEqual([]);
    } finally {
      server.close();
    }
  });

  const badUrl = 'LIBSQL_URL: use libsql://, https:// or http://, and LIBSQL_AUTH_TOKEN for the token';
  it.each<[Record<string, string>, string]>([
    [{ PORT: 'eighty' }, 'PORT: use a port number'],
    [{ SANDBOX_PORT: '70000' }, 'SANDBOX_PORT: use a port number'],
    [{ LIBSQL_URL: 'garbage' }, badUrl],
    [{ LIBSQL_URL: 'ftp://127.0.0.1' }, badUrl],
    [{ LIBSQL_URL: 'http://user:secret@127.0.0.1' }, badUrl],
    [{ LIBSQL_URL: 'http://:secret@127.0.0.1' }, badUrl],
  ])('refuses %j', async (env, message) => {
    await expect(start(env)).rejects.toThrow(message);
  });

  it('names DATA_DIR and the process when a running one has it, before anything starts, and leaves that one alone', async () => {
    const stack = await start();
    const running = listDescendants(process.pid);
    await expect(start({ DATA_DIR: stack.dataDir })).rejects.toThrow(
      `DATA_DIR ${stack.dataDir} is used by a running stack (process ${process.pid})`,
    );
    expect(listDescendants(process.pid).map(({ pid }) => pid)).toEqual(running.map(({ pid }) => pid));
    expect((await ask(stack)).env.MANAGEMENT_TOKEN).toBe(stack.managementToken);
  });

  it('says that DATA_DIR cannot be made', async () => {
    await expect(start({ DATA_DIR: '/proc/x' })).rejects.toThrow('DATA_DIR /proc/x cannot be used: ENOENT');
  });

  it('says that the database at LIBSQL_URL cannot be reached, and no token', async () => {
    const port = await findFreePort();
    const env = { LIBSQL_URL: `http://127.0.0.1:${port}?authToken=secret-1`, LIBSQL_AUTH_TOKEN: 'secret-2' };
    const { message } = await start(env).then(
      () => new Error('started'),
      (error: Error) => error,
    );
    expect(message).toContain(
      `the database at LIBSQL_URL (http://127.0.0.1:${port}) cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    expect(message).not.toContain('secret');
  });

  it('says which database refuses the token', async () => {
    const database = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1', authToken: 'right' });
    try {
      await expect(start({ LIBSQL_URL: database.url, LIBSQL_AUTH_TOKEN: 'wrong' })).rejects.toThrow(
        `the database at LIBSQL_URL (${database.url}) refuses LIBSQL_AUTH_TOKEN: AUTH_INVALID: Missing or wrong auth token`,
      );
    } finally {
      await database.close();
    }
  });

  it('does not guess what a damaged file of credentials held', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'credentials.json'), '{');
    await expect(start({ DATA_DIR: folder })).rejects.toThrow(
      `${join(folder, 'credentials.json')} is damaged: remove it, and new credentials are made`,
    );
  });

  it('tells the last words of a part that ends at once, and stops the others', async () => {
    await expect(start({ SANDBOX_SECRET: 'short' })).rejects.toThrow(
      'sandbox-host ended (exit code 1): SANDBOX_SECRET: Use at least 32 characters',
    );
    await waitUntilGone(listDescendants(process.pid).filter(({ command }) => command.includes('end-with-parent')));
  });

  it("tells the bundler's message about a worker that it cannot bundle", async () => {
    const entry = join(newFolder(), 'index.ts');
    writeFileSync(entry, "import { readFileSync } from 'node:fs';\nexport default { fetch: () => new Response(String(readFileSync)) };");
    await expect(startTestStack({}, { workerEntry: entry })).rejects.toThrow('Could not resolve "node:fs"');
  });
});

describe('a stack whose process is killed', () => {
  it('leaves no part, and starts again at once on the same data and ports', async () => {
    const env = await isolateEnvironment(process.env);
    folders.push(env.DATA_DIR);
    const program = `
      import { startStack } from ${JSON.stringify(join(import.meta.dirname, '../../dev/stack.ts'))};
      await startStack({ env: process.env, log() {}, workerEntry: ${JSON.stringify(SMALL_WORKER)} });
      console.log('started');`;
    const parent: ChildProcess = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      env: env as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => parent.stdout?.once('data', resolve));
    const running = listDescendants(parent.pid ?? 0);
    expect(running.length).toBeGreaterThanOrEqual(5);
    parent.kill('SIGKILL');
    const again = await start(env);
    await waitUntilGone(running);
    expect((await ask(again)).env.MANAGEMENT_TOKEN).toBe(again.managementToken);
  });
});
