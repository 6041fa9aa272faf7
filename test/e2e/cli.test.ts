import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { CLI_FILE, spawnCli } from '../support/spawn-cli.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let folder: string;
/** With `omniroute-edge` among the programs that shells find. */
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omniroute-cli-'));
  symlinkSync(CLI_FILE, join(folder, 'omniroute-edge'));
  stack = await startTestStack();
  const path = [folder, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  env = { PATH: path, OMNIROUTE_URL: stack.url, OMNIROUTE_TOKEN: stack.managementToken };
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => spawnCli(args, { env }).ended;
const inBash = (script: string) => spawnCli(['--norc', '-c', `set -o pipefail; ${script}`], { program: 'bash', env }).ended;

async function executionOf(session: string): Promise<JsonObject | undefined> {
  const { stdout } = await run('executions', 'list', '--json');
  return objectsOf((JSON.parse(stdout) as JsonObject).data).find(({ sessionId }) => sessionId === session);
}

it('finds the stack well', async () => {
  const { code, stdout } = await run('doctor');
  expect(code).toBe(0);
  for (const line of ['ok       database', 'ok       sandbox', 'ok       token', 'ok       providers', 'ok       eval_code']) {
    expect(stdout).toContain(line);
  }
});

describe('execute', () => {
  it('prints what a program in a container prints, and ends as it does', async () => {
    const { code, stdout, stderr } = await run('execute', 'eval_code', 'code=console.log(6 * 7); console.error("oh"); process.exit(3)');
    expect([code, stdout]).toEqual([1, '42\n']);
    expect(stderr).toMatch(/^oh\nerror: eval_code@1\.0\.0: the program ended with the exit code 3 /);
  });

  it('reads its program from a pipe', async () => {
    const script = `echo 'print(sum(range(10)))' | omniroute-edge execute eval_code language=python code=@- 2>/dev/null`;
    expect(await inBash(script)).toMatchObject({ code: 0, stdout: '45\n' });
  });

  it('loses nothing of much output to a slow reader', async () => {
    const script = `omniroute-edge execute eval_code 'code=process.stdout.write("x".repeat(90000))' 2>/dev/null | (sleep 1; wc -c)`;
    expect(await inBash(script)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\s*90000\n$/) });
  });

  it('ends quietly when its reader has seen enough', async () => {
    const program = 'code=for (let i = 0; i < 9000; i++) console.log("line " + i)';
    for (const [args, first] of [
      [`execute eval_code '${program}'`, 'line 0'],
      [`execute eval_code '${program}' --json`, '{'],
      ['skills list', 'SKILL '],
    ]) {
      const { code, stdout, stderr } = await inBash(`omniroute-edge ${args} | head -n 1`);
      expect(stdout.split('\n')[0]?.startsWith(first as string)).toBe(true);
      expect(stderr).not.toContain('EPIPE');
      expect(stderr).not.toContain('rror');
      expect(code).toBe(0);
    }
  });

  it('is ended by Ctrl-C, here and there', async () => {
    const args = ['execute', 'eval_code', 'code=setInterval(() => {}, 1000)', 'timeoutMs:=50000', '--session', 'left'];
    const { child, ended } = spawnCli(args, { env });
    await vi.waitFor(async () => expect(await executionOf('left')).toMatchObject({ status: 'running' }), {
      timeout: 30_000,
      interval: 100,
    });
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stdout: '' });
    await vi.waitFor(async () => expect(await executionOf('left')).toMatchObject({ status: 'error' }), { timeout: 30_000, interval: 100 });
  });
});

it('switches a skill off for everybody, at once', async () => {
  expect(await run('skills', 'disable', 'file_read')).toMatchObject({ code: 0 });
  expect(await run('execute', 'file_read', 'path=a.txt')).toMatchObject({ code: 1, stderr: expect.stringContaining('(skill_off)') });
  expect(await run('skills', 'enable', 'file_read')).toMatchObject({ code: 0 });
});

it('makes a key that works', async () => {
  const { stdout: key } = await run('keys', 'create', 'cli');
  const withKey = { ...env, OMNIROUTE_TOKEN: key.trim() };
  expect(await spawnCli(['execute', 'file_write', 'path=k.txt', 'content=k'], { env: withKey }).ended).toMatchObject({ code: 0 });
  expect(await spawnCli(['skills', 'list'], { env: withKey }).ended).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('(forbidden)'),
  });
});

it('says that nothing is there', async () => {
  expect(await run('keys', '--url', 'http://127.0.0.1:9')).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('Cannot reach the gateway'),
  });
});

it('completes in bash, and runs nothing of the line', async () => {
  const trap = join(folder, 'trap');
  const script = `source <(omniroute-edge completion bash)
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _omniroute_edge; echo "\${COMPREPLY[*]}"; }
    try omniroute-edge skills mode fi
    try omniroute-edge skills list --mode = o
    try omniroute-edge execute '$(touch ${trap})' ''
    complete -p omniroute-edge; ls ${trap} 2>&1`;
  const { stdout } = await inBash(script);
  const lines = stdout.split('\n');
  expect(lines.slice(0, 4)).toEqual(['file_read file_write', 'on off', '', 'complete -o default -F _omniroute_edge omniroute-edge']);
  expect(lines[4]).toContain('No such file');
});

describe('mcp', () => {
  const server = () => ({ command: process.execPath, args: [CLI_FILE, 'mcp'], env, stderr: 'pipe' as const });
  const info = { name: 'test', version: '1.0.0' };
  const call = { name: 'omniroute_skills_execute', arguments: { skillName: 'file_write', input: { path: 'm.txt', content: 'by MCP' } } };

  it('speaks for the gateway to a client of the current revision', async () => {
    const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport(server()));
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('omniroute_skills_execute');
      expect(await client.callTool(call)).toMatchObject({
        structuredContent: { execution: { status: 'success', skillName: 'file_write' } },
      });
    } finally {
      await client.close();
    }
  });

  it('speaks to a client of the earlier ones, and ends with it', async () => {
    const client = new EarlierClient(info);
    const transport = new EarlierTransport(server());
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const { pid } = transport;
    expect(await client.callTool(call)).toMatchObject({ structuredContent: { execution: { status: 'success' } } });
    await client.close();
    await vi.waitFor(() => expect(() => process.kill(pid as number, 0)).toThrow('ESRCH'), { timeout: 10_000 });
  });

  it('answers many at once, each its own', async () => {
    const client = new EarlierClient(info);
    await client.connect(new EarlierTransport(server()) as Parameters<typeof client.connect>[0]);
    try {
      const read = async (n: number) => {
        const input = { path: `many-${n}.txt`, content: 'x'.repeat(n) };
        const { structuredContent } = await client.callTool({ ...call, arguments: { skillName: 'file_write', input } });
        return ((structuredContent as JsonObject).execution as { output: JsonObject }).output.bytesWritten;
      };
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
      expect(await Promise.all(numbers.map(read))).toEqual(numbers);
    } finally {
      await client.close();
    }
  });

  it('tells a client what is wrong, and goes on', async () => {
    const { child, ended } = spawnCli(['mcp'], { env: { ...env, OMNIROUTE_TOKEN: 'omr_wrong' } });
    const answers: JsonObject[] = [];
    child.stdout.on('data', (text: string) =>
      answers.push(
        ...text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as JsonObject),
      ),
    );
    for (const id of [1, 'two']) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`);
    child.stdin.write('no JSON\n');
    await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 20_000 });
    const error = { code: -32000, message: 'A valid API key is required: send it as Authorization: Bearer <key>' };
    expect(answers).toEqual(expect.arrayContaining([1, 'two'].map((id) => ({ jsonrpc: '2.0', id, error }))));
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0, stderr: expect.stringContaining('mcp: tools/list: A valid API key is required') });
  });
});
