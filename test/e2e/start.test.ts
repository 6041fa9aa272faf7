import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
import { messageReply, text } from '../support/anthropic-replies.ts';
import { contentReply } from '../support/gemini-replies.ts';
import { startMockUpstream } from '../support/mock-upstream.ts';
import { listDescendants, waitUntilGone } from '../support/processes.ts';

const START = join(import.meta.dirname, '../../dev/start.ts');

interface Started {
  child: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Resolves to what was printed once it matches. */
  printed(pattern: RegExp): Promise<string>;
  exitCode: Promise<number | null>;
}

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

async function start(args: string[] = [], more: Record<string, string> = {}, command = [process.execPath, START]): Promise<Started> {
  const isolated = await isolateEnvironment(process.env);
  const env = { ...isolated, ...more };
  const [program = '', ...before] = command;
  const child = spawn(program, [...before, ...args], { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'pipe', 'pipe'] });
  cleanUps.push(() => {
    child.kill('SIGKILL');
    rmSync(isolated.DATA_DIR, { recursive: true, force: true });
  });
  let output = '';
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return {
    child,
    output: () => output,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => void (pattern.test(output) && resolve(output));
        child.stdout.on('data', look);
        look();
        void exitCode.then((code) => reject(new Error(`exit code ${code} without ${pattern}:\n${output}`)));
      }),
    exitCode,
  };
}

/** Resolves to what the line to try answers. */
async function runPrintedLine(started: Started): Promise<string> {
  const line = /^ {2}(curl .*)\n/m.exec(await started.printed(/^ {2}curl .*\n/m))?.[1] ?? '';
  return (await promisify(execFile)('sh', ['-c', line])).stdout;
}

describe('npm start', () => {
  it('prints where it is ready, its token and a curl line that works, and leaves nothing on Ctrl-C', async () => {
    const started = await start();
    const output = await started.printed(/^ {2}curl .*\n/m);
    expect(output).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+$/m);
    expect(output).toMatch(/^management token [\w-]{43} \(kept in .*credentials\.json\)$/m);
    expect(output).toMatch(/^API key omr_[\w-]{43} \(kept in .*credentials\.json\)$/m);
    expect(output).toContain('the models scripted-* follow a script, a tool for development');

    const body = JSON.parse(await runPrintedLine(started)) as {
      choices: [{ message: { content: string } }];
      omniroute: { executions: { skill: string }[] };
    };
    expect(body.omniroute.executions.map(({ skill }) => skill)).toEqual(['eval_code@1.0.0']);
    expect(body.choices[0].message.content).toContain('eval_code');

    const running = listDescendants(started.child.pid ?? 0);
    started.child.kill('SIGINT');
    expect(await started.exitCode).toBe(0);
    await waitUntilGone(running);
  });

  it('keeps a given token to itself', async () => {
    const started = await start([], { MANAGEMENT_TOKEN: 'given-by-the-user' });
    const output = await started.printed(/^ {2}curl .*\n/m);
    expect(output).not.toContain('given-by-the-user');
    expect(output).not.toContain('management token');
  });

  it.each([
    ['ANTHROPIC', '/v1/messages', 'claude-sonnet-4-5'],
    ['GEMINI', '/v1beta/models/gemini-2.5-flash:generateContent', undefined],
  ])('prints a line that works with a key of %s', async (provider, path, model) => {
    const upstream = await startMockUpstream();
    cleanUps.push(() => void upstream.close());
    upstream.play(provider === 'ANTHROPIC' ? messageReply({ content: [text('hello')] }) : contentReply({ parts: [{ text: 'hello' }] }));
    const started = await start([], { [`${provider}_API_KEY`]: 'the-key', [`${provider}_BASE_URL`]: upstream.url });
    expect(await runPrintedLine(started)).toContain('"hello"');
    expect(upstream.requests.map((request) => request.path)).toEqual([path]);
    expect(upstream.requests[0]?.body.model).toBe(model);
    expect(started.output()).not.toContain('the-key');
  });

  it('prints a line that asks a model that PROVIDERS lists', async () => {
    const upstream = await startMockUpstream();
    cleanUps.push(() => void upstream.close());
    upstream.play(messageReply({ content: [text('hello')] }));
    const provider = { name: 'mine', format: 'anthropic', baseUrl: upstream.url, models: ['other-*', 'my-model'] };
    const started = await start([], { PROVIDERS: JSON.stringify([provider]) });
    expect(await runPrintedLine(started)).toContain('"hello"');
    expect(upstream.requests[0]).toMatchObject({ path: '/v1/messages', body: { model: 'my-model' } });
  });

  it('prints the API key though nobody knows a model', async () => {
    const started = await start([], { PROVIDERS: '[{"name":"mine","format":"openai","baseUrl":"http://127.0.0.1:1/v1"}]' });
    const output = await started.printed(/^API key omr_[\w-]{43} /m);
    expect(output).not.toContain('curl');
  });

  it.each([
    ['npm itself', (started: Started) => started.child.pid],
    ["npm's shell", (started: Started) => listDescendants(started.child.pid ?? 0).find(({ command }) => /^sh /.test(command))?.pid],
  ])('stops when %s is killed', async (_, find) => {
    const started = await start([], {}, ['npm', 'start', '--ignore-scripts']);
    await started.printed(/^ready /m);
    const running = listDescendants(started.child.pid ?? 0);
    expect(running.length).toBeGreaterThanOrEqual(6);
    process.kill(find(started) ?? 0, 'SIGKILL');
    await waitUntilGone(running);
  });

  it('refuses a DATA_DIR that a running one has, in one line', async () => {
    const first = await start();
    await first.printed(/^API key .*\n/m);
    const folder = /kept in (.*)\/credentials/.exec(first.output())?.[1] ?? '';
    const second = await start([], { DATA_DIR: folder });
    expect(await second.exitCode).toBe(1);
    expect(second.output().trim()).toBe(
      `cannot start: DATA_DIR ${folder} is used by a running stack (process ${first.child.pid}): stop that one, or set DATA_DIR to another folder`,
    );
  });

  it('stops as well while it is still starting', async () => {
    const started = await start();
    await started.printed(/\[libsql]/);
    const running = listDescendants(started.child.pid ?? 0);
    started.child.kill('SIGTERM');
    expect(await started.exitCode).toBe(0);
    await waitUntilGone(running);
  });

  it('ends with one clear line when a part dies', async () => {
    const started = await start();
    await started.printed(/^ready /m);
    const running = listDescendants(started.child.pid ?? 0);
    const database = running.find(({ command }) => command.includes('libsql-server.ts'));
    expect(database).toBeDefined();
    if (database !== undefined) process.kill(database.pid, 'SIGKILL');
    expect(await started.exitCode).toBe(1);
    expect(started.output()).toMatch(/^stopped, because libsql ended \(SIGKILL\)/m);
    await waitUntilGone(running);
  });

  it.each([
    [['--fast'], {}, 'cannot start: unknown option --fast; known is --wrangler'],
    [[], { PORT: 'x' }, 'cannot start: PORT: use a port number'],
    [[], { DATA_DIR: '/proc/x' }, "cannot start: DATA_DIR /proc/x cannot be used: ENOENT: no such file or directory, mkdir '/proc/x'"],
  ])('with %j and %j fails: %s', async (args, env, message) => {
    const started = await start(args, env);
    expect(await started.exitCode).toBe(1);
    expect(started.output().trim()).toBe(message);
  });
});
