import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
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

async function start(args: string[] = [], more: Record<string, string> = {}): Promise<Started> {
  const env = { ...(await isolateEnvironment(process.env)), ...more };
  const child = spawn(process.execPath, [START, ...args], { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'pipe', 'pipe'] });
  cleanUps.push(() => {
    child.kill('SIGKILL');
    rmSync(env.DATA_DIR, { recursive: true, force: true });
  });
  let output = '';
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
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

describe('npm start', () => {
  it('prints where it is ready, its token and a curl line that works, and leaves nothing on Ctrl-C', async () => {
    const started = await start();
    const output = await started.printed(/^ {2}curl .*\n/m);
    expect(output).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+$/m);
    expect(output).toMatch(/^management token [\w-]{43} \(kept in .*credentials\.json\)$/m);
    expect(output).toContain('the models scripted-* follow a script, a tool for development');

    const line = /^ {2}(curl .*)$/m.exec(output)?.[1] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    const body = JSON.parse(stdout) as { choices: [{ message: { content: string } }]; omniroute: { executions: { skill: string }[] } };
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
  ])('with %j and %j fails: %s', async (args, env, message) => {
    const started = await start(args, env);
    expect(await started.exitCode).toBe(1);
    expect(started.output().trim()).toBe(message);
  });
});
