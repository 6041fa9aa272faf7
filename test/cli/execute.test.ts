import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { fetchFrom, runCli } from '../support/run-cli.ts';

let app: TestApp;
let folder: string;
const run = (args: string[], options = {}) => runCli(['execute', ...args], { fetch: fetchFrom(app), token: app.key.key, ...options });
const file = (name: string, text: string | Uint8Array): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

beforeAll(async () => {
  app = await createTestApp();
  folder = mkdtempSync(join(tmpdir(), 'omniroute-cli-'));
  const schema = { input: {}, output: {} };
  await app.call('/api/skills/install', { json: { name: 'echo', description: 'Echo', schema, handlerCode: 'echo-handler' } });
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The input that reached the skill. */
async function inputOf(args: string[], options = {}): Promise<unknown> {
  const { execution } = (await run(['echo', '--json', ...args], options)).json();
  return (execution as JsonObject).input;
}

describe('the input', () => {
  it.each<[string[], unknown]>([
    [[], {}],
    [['text=hello world', 'empty=', 'equation=a=b'], { text: 'hello world', empty: '', equation: 'a=b' }],
    [['count:=3', 'list:=[1,"two"]', 'nothing:=null'], { count: 3, list: [1, 'two'], nothing: null }],
    [['--input', '{"a":1,"b":2}', 'b=over'], { a: 1, b: 'over' }],
    [['-i', '{"a":{"deep":true}}'], { a: { deep: true } }],
  ])('%j', async (args, input) => {
    expect(await inputOf(args)).toEqual(input);
  });

  it('comes from files', async () => {
    const [json, text] = [file('input.json', '{"from":"file"}'), file('code.py', 'print("hi")\n')];
    expect(await inputOf(['--input', `@${json}`, `code=@${text}`, `more:=@${json}`])).toEqual({
      from: 'file',
      code: 'print("hi")\n',
      more: { from: 'file' },
    });
  });

  it('comes from standard input', async () => {
    expect(await inputOf(['--input', '-'], { stdin: '{"a":1}' })).toEqual({ a: 1 });
    expect(await inputOf(['--input', '@-'], { stdin: '{"a":1}' })).toEqual({ a: 1 });
    expect(await inputOf(['text=@-'], { stdin: 'piped' })).toEqual({ text: 'piped' });
  });

  it.each([
    [['--input', '{'], /^error: The input is not JSON: /],
    [['--input', '[1]'], /^error: The input is not a JSON object\n/],
    [['--input', '@missing.json'], /^error: Cannot read missing\.json: ENOENT/],
    [['count:=three'], /^error: count is not JSON: /],
    [['no field'], /^error: Not a field of the input: no field\. Use name=text/],
    [['=x'], /^error: Not a field of the input: =x\./],
  ])('%j is refused', async (args, message) => {
    expect(await run(['echo', ...args])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('has to be text of at most 20 MiB', async () => {
    const bytes = file('bytes', new Uint8Array([0xff, 0xfe]));
    expect((await run(['echo', `text=@${bytes}`])).stderr).toBe(`error: ${bytes} is not UTF-8 text\n`);
    const large = file('large', new Uint8Array(20 * 1024 * 1024 + 1));
    expect((await run(['echo', `text=@${large}`])).stderr).toBe(`error: ${large} is larger than 20 MiB\n`);
    const stdin = 'x'.repeat(20 * 1024 * 1024 + 1);
    expect((await run(['echo', 'text=@-'], { stdin })).stderr).toBe('error: Standard input is larger than 20 MiB\n');
  });
});

describe('what comes back', () => {
  it('is printed as JSON, how it ended on stderr', async () => {
    const { code, stdout, stderr } = await run(['file_write', 'path=a.txt', 'content=hi']);
    expect([code, JSON.parse(stdout)]).toEqual([0, { success: true, path: 'a.txt', bytesWritten: 2 }]);
    expect(stderr).toMatch(/^file_write@1\.0\.0 ran in \d+ ms, execution [0-9a-f-]{36}\n$/);
  });

  it('is the execution with --json', async () => {
    const { json, stderr } = await run(['echo@1.0.0', '--session', 's-1', '--json']);
    expect(json()).toMatchObject({ execution: { skillName: 'echo', status: 'success', sessionId: 's-1' } });
    expect(stderr).toBe('');
  });

  it('is what ran before under an idempotency key', async () => {
    const id = async () => ((await run(['echo', '--idempotency-key', 'once', '--json'])).json().execution as JsonObject).id;
    expect(await id()).toBe(await id());
  });

  it('fails with a failed execution, which is printed all the same', async () => {
    const failing = ['file_read', 'path=missing.txt'];
    const plain = await run(failing);
    expect(plain).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: file_read@1\.0\.0: Skill file not found: missing\.txt \(execution .{36}\) \(execution_failed\)\n$/,
      ),
    });
    const { code, json, stderr } = await run([...failing, '--json']);
    expect([code, (json().execution as JsonObject).status]).toEqual([1, 'error']);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'execution_failed' });
  });

  it.each([
    [['nope'], 1, 'error: No skill nope (skill_not_found)\n'],
    [['browser', 'action=navigate'], 1, '(skill_off)'],
    [[], 2, "error: missing required argument 'skill'\nSee --help\n"],
  ])('%j ends with %i', async (args, exitCode, message) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(stderr).toContain(message);
  });
});

/** A gateway that answers an execution with what a test says. */
const answering =
  (body: BodyInit | null, type: string): typeof fetch =>
  async () =>
    new Response(body, { headers: { 'content-type': type } });
const execution = (further: JsonObject): JsonObject => ({
  id: 'e-1',
  skillName: 'eval_code',
  skillVersion: '1.0.0',
  status: 'success',
  durationMs: 7,
  ...further,
});
const output = (further: JsonObject): JsonObject => ({ success: true, stdout: '', stderr: '', ...further });
const plain = (further: JsonObject) => answering(JSON.stringify({ execution: execution(further) }), 'application/json');
const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const done = event('execution', { execution: execution({ output: output({ stdout: 'again' }) }) });
const stream = (text: string) => answering(text, 'text/event-stream; charset=utf-8');

describe('a program', () => {
  it('prints as it did', async () => {
    const fetch = plain({ output: output({ stdout: '\u001b[31mred', stderr: 'oh\n' }) });
    expect(await run(['eval_code'], { fetch })).toMatchObject({
      stdout: '\u001b[31mred',
      stderr: 'oh\neval_code@1.0.0 ran in 7 ms, execution e-1\n',
    });
  });

  it('cannot steer a terminal, nor share a line with what is said after it', async () => {
    const fetch = plain({ output: output({ stdout: '\u001b]0;title\u0007done' }) });
    expect(await run(['eval_code'], { fetch, columns: 80 })).toMatchObject({
      stdout: '␛]0;title␇done',
      stderr: '\neval_code@1.0.0 ran in 7 ms, execution e-1\n',
    });
  });

  it.each([
    [{ exitCode: 3 }, 'the program ended with the exit code 3'],
    [{ timedOut: true }, 'the program took too long and was ended'],
    [{ oomKilled: true, exitCode: 137 }, 'the program needed more memory than it may have'],
    [{ error: 'no such file' }, 'no such file'],
    [{}, 'it failed'],
  ])('%j is a failure', async (further, reason) => {
    const { code, stdout, stderr } = await run(['eval_code'], {
      fetch: plain({ output: output({ success: false, stdout: 'so far', ...further }) }),
    });
    expect([code, stdout, stderr]).toEqual([1, 'so far', `error: eval_code@1.0.0: ${reason} (execution e-1) (execution_failed)\n`]);
  });

  it('that is timed out has a code of its own', async () => {
    const fetch = plain({ status: 'timeout', errorMessage: 'Timed out after 5 ms', output: null });
    expect(await run(['eval_code'], { fetch })).toMatchObject({
      code: 1,
      stderr: 'error: eval_code@1.0.0: Timed out after 5 ms (execution e-1) (execution_timeout)\n',
    });
  });
});

describe('a stream', () => {
  it('is asked for, except for JSON', async () => {
    const accepts: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      accepts.push(new Headers(init?.headers).get('accept'));
      return plain({ output: {} })('');
    };
    await run(['x'], { fetch });
    await run(['x', '--json'], { fetch });
    expect(accepts).toEqual(['text/event-stream, application/json;q=0.9', 'application/json']);
  });

  it('is printed as it comes', async () => {
    const source = new PassThrough();
    const stdout = new PassThrough();
    const body = PassThrough.toWeb(source).readable as ReadableStream<Uint8Array>;
    const { runCommand } = await import('../../cli/run-command.ts');
    const running = runCommand(['execute', 'eval_code'], {
      env: { OMNIROUTE_URL: 'http://gateway.example' },
      stdin: new PassThrough(),
      stdout,
      stderr: new PassThrough().resume(),
      fetch: answering(body, 'text/event-stream'),
      signal: new AbortController().signal,
    });
    for (const text of ['first ', 'sécond\n']) {
      source.write(event('output', { stream: 'stdout', text }));
      expect(String((await once(stdout, 'data'))[0])).toBe(text);
    }
    source.end(done);
    expect(await running).toBe(0);
  });

  it('shows output once, each stream in its place, and passes over what it does not know', async () => {
    const text = [
      ': keepalive\n\n',
      event('output', { stream: 'stdout', text: 'out' }),
      event('output', { stream: 'stderr', text: 'err\n' }),
      event('progress', { percent: 3 }),
      done,
    ];
    expect(await run(['eval_code'], { fetch: stream(text.join('')) })).toMatchObject({
      code: 0,
      stdout: 'out',
      stderr: 'err\neval_code@1.0.0 ran in 7 ms, execution e-1\n',
    });
  });

  it('without output events shows the output of the execution', async () => {
    expect(await run(['eval_code'], { fetch: stream(done) })).toMatchObject({ code: 0, stdout: 'again' });
  });

  it.each<[string, number, string]>([
    [
      event('output', { stream: 'stdout', text: 'so far' }),
      3,
      'error: The connection ended before the execution did: see omniroute-edge executions (broken_off)\n',
    ],
    [event('error', { error: 'Skills are off', code: 'skills_disabled' }), 1, 'error: Skills are off (skills_disabled)\n'],
    ['event: output\ndata: {"text":\n\n', 3, 'error: The gateway sent an event that cannot be read (not_a_gateway)\n'],
  ])('%j ends with %i', async (text, exitCode, message) => {
    expect(await run(['eval_code'], { fetch: stream(text) })).toMatchObject({ code: exitCode, stderr: message });
  });
});

describe('an answer that breaks off', () => {
  it.each([
    ['   ', 'application/json', 'error: The connection ended before the execution did: see omniroute-edge executions (broken_off)\n'],
    [
      '{"execution":',
      'application/json',
      'error: What answers at http://gateway.example is no OmniRoute Edge gateway (200, application/json) (not_a_gateway)\n',
    ],
    [
      '<html>',
      'text/html',
      'error: What answers at http://gateway.example is no OmniRoute Edge gateway (200, text/html) (not_a_gateway)\n',
    ],
  ])('%j', async (body, type, message) => {
    expect(await run(['eval_code'], { fetch: answering(body, type) })).toMatchObject({ code: 3, stdout: '', stderr: message });
  });
});
