import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contract/runs.ts';
import { createWorkspace } from '../../../src/db/workspace-repository.ts';
import type { JsonObject, JsonValue } from '../../../src/json.ts';
import { evalCode } from '../../../src/skills/builtin/eval-code.ts';
import { executeCommand } from '../../../src/skills/builtin/execute-command.ts';
import { SkillError, type SkillLimits, type Workspace } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createRecordingSandbox, createSkillContext } from '../../support/skill-context.ts';

let database: TestDatabase;
let workspace: Workspace;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.client.execute('DELETE FROM workspace_files');
  workspace = createWorkspace(database.db, {
    apiKeyId: 'key-1',
    loadQuota: async () => ({ maxBytes: 1_000, maxFiles: 4 }),
    now: () => new Date(),
  });
});

const save = (path: string, text: string) =>
  workspace.write(path, new TextEncoder().encode(text), { append: false, overwrite: true, maxBytes: 1_000 });
const load = async (path: string) => new TextDecoder().decode(await workspace.read(path, 1_000));
const fileOf = (path: string, text: string) => ({ path, contentBase64: btoa(text) });

function setUp(result: Partial<RunResult> = {}, limits: Partial<SkillLimits> = {}) {
  const sandbox = createRecordingSandbox(result);
  const context = createSkillContext({ sandbox, workspace, limits: { ...createSkillContext().limits, ...limits } });
  return {
    sandbox,
    context,
    evaluate: (input: JsonValue) => callSkill(evalCode, input, context),
    execute: (input: JsonValue) => callSkill(executeCommand, input, context),
  };
}

describe('eval_code', () => {
  it('runs JavaScript from standard input and returns what it printed', async () => {
    const { evaluate, sandbox, context } = setUp({ stdout: 'out\n', stderr: 'err\n' });
    expect(await evaluate({ code: 'console.log(1)' })).toEqual({
      success: true,
      language: 'javascript',
      image: 'node:22-alpine',
      exitCode: 0,
      stdout: 'out\n',
      stderr: 'err\n',
      output: 'out\nerr\n',
      truncated: false,
      durationMs: 12,
      killed: false,
      timedOut: false,
      oomKilled: false,
      files: [],
      filesNotSavedCount: 0,
      filesNotSaved: [],
    });
    expect(sandbox.requests).toEqual([
      {
        id: context.executionId,
        image: 'node:22-alpine',
        command: ['node', '-'],
        env: {},
        stdin: 'console.log(1)',
        files: [],
        returnFiles: true,
        limits: {
          cpuLimit: 100,
          memoryLimit: 256,
          timeoutMs: 10_000,
          networkEnabled: false,
          readOnly: true,
          maxOutputChars: 100_000,
          maxFileBytes: 1_048_576,
        },
      },
    ]);
    expect(sandbox.signals).toEqual([context.signal]);
  });

  it.each([
    ['javascript', 'javascript', 'node:22-alpine', ['node', '-']],
    ['JS', 'js', 'node:22-alpine', ['node', '-']],
    ['python', 'python', 'python:3.12-alpine', ['python3', '-']],
    ['Py', 'py', 'python:3.12-alpine', ['python3', '-']],
  ])('runs %s', async (language, shown, image, command) => {
    const { evaluate, sandbox } = setUp();
    expect(await evaluate({ code: 'x', language })).toMatchObject({ language: shown, image });
    expect(sandbox.requests[0]).toMatchObject({ image, command });
  });

  it('sends the same run again when the same execution is repeated', async () => {
    const { evaluate, sandbox } = setUp();
    await evaluate({ code: 'x' });
    await evaluate({ code: 'x' });
    expect(sandbox.requests[1]).toEqual(sandbox.requests[0]);
  });

  it.each([
    [{}, 'Missing required field: code'],
    [{ code: '' }, 'Missing required field: code'],
    [{ code: null }, 'Missing required field: code'],
    [{ code: 'x', language: 'Ruby' }, 'Unsupported code language: Ruby'],
    [{ code: 'x', image: 'evil:latest' }, 'Sandbox image is not allowed: evil:latest'],
    [{ code: 'x', image: 'node:22-alpine@sha256:00' }, 'Sandbox image is not allowed: node:22-alpine@sha256:00'],
    [{ code: 'x', timeoutMs: 60_001 }, 'timeoutMs: Too big: expected number to be <=60000'],
    [{ code: 'x', timeoutMs: 0 }, 'timeoutMs: Too small: expected number to be >=1'],
    [{ code: 'x', files: 'a.txt' }, 'files: Invalid input: expected array, received string'],
    [
      { code: 'x', networkEnabled: true },
      'Network access is not allowed in the sandbox. Run without networkEnabled, or set SKILLS_SANDBOX_NETWORK_ENABLED=true on the gateway.',
    ],
    [{ code: 'x', files: ['../a'] }, 'Skill file path escapes the skill workspace'],
    [{ code: 'x', files: ['none.csv'] }, 'Skill file not found: none.csv'],
  ])('answers %j with its error and runs nothing', async (input, message) => {
    const { evaluate, sandbox } = setUp();
    await expect(evaluate(input)).rejects.toEqual(new SkillError(message));
    expect(sandbox.requests).toEqual([]);
  });
});

describe('execute_command', () => {
  it('runs a command with its arguments', async () => {
    const { execute, sandbox } = setUp({ stdout: 'a' });
    expect(await execute({ command: 'echo', args: ['a b', 2, true] })).toMatchObject({
      success: true,
      command: 'echo',
      args: ['a b', '2', 'true'],
      image: 'alpine:3.20',
      output: 'a',
    });
    expect(sandbox.requests).toMatchObject([{ image: 'alpine:3.20', command: ['echo', 'a b', '2', 'true'], stdin: '', returnFiles: true }]);
  });

  it.each([{ command: 'ls' }, { command: 'ls', args: null }, { command: 'ls', args: [] }])('runs %j without arguments', async (input) => {
    const { execute, sandbox } = setUp();
    expect(await execute(input)).toMatchObject({ args: [] });
    expect(sandbox.requests[0]?.command).toEqual(['ls']);
  });

  it.each([
    [{}, 'Missing required field: command'],
    [{ command: '' }, 'Missing required field: command'],
    [{ command: 'ls', args: '-la' }, 'Field args must be an array'],
    [{ command: 'ls', args: { 0: '-la' } }, 'Field args must be an array'],
    [{ command: 'ls', args: [['-la']] }, 'Command arguments must be strings, numbers, or booleans'],
    [{ command: 'ls', args: ['a', null] }, 'Command arguments must be strings, numbers, or booleans'],
    [{ command: 'ls', args: Array(1_000).fill('x') }, 'args: Too big: expected array to have <=999 items'],
    [{ command: 'ls', image: 'ubuntu' }, 'Sandbox image is not allowed: ubuntu'],
    [
      { command: 'ls', networkEnabled: true },
      'Network access is not allowed in the sandbox. Run without networkEnabled, or set SKILLS_SANDBOX_NETWORK_ENABLED=true on the gateway.',
    ],
  ])('answers %j with its error and runs nothing', async (input, message) => {
    const { execute, sandbox } = setUp();
    await expect(execute(input)).rejects.toEqual(new SkillError(message));
    expect(sandbox.requests).toEqual([]);
  });
});

describe('a skill in a sandbox', () => {
  it('takes an allowed image, a timeout and the network where they are allowed', async () => {
    const { execute, sandbox } = setUp(
      {},
      { sandboxNetworkEnabled: true, allowedSandboxImages: ['alpine:3.20', 'mine/tools:1'], maxSandboxOutputChars: 50 },
    );
    expect(await execute({ command: 'x', image: ' mine/tools:1 ', timeoutMs: 60_000, networkEnabled: true })).toMatchObject({
      image: 'mine/tools:1',
    });
    expect(sandbox.requests).toMatchObject([
      { image: 'mine/tools:1', limits: { timeoutMs: 60_000, networkEnabled: true, maxOutputChars: 50 } },
    ]);
  });

  it('takes an empty image for the usual one', async () => {
    expect(await setUp().execute({ command: 'x', image: '' })).toMatchObject({ image: 'alpine:3.20' });
  });

  it.each<[Partial<RunResult>, JsonObject]>([
    [
      { exitCode: 1, stderr: 'boom' },
      { success: false, exitCode: 1, output: 'boom' },
    ],
    [
      { exitCode: 137, killed: true, timedOut: true, stdout: 'half' },
      { success: false, killed: true, timedOut: true, output: 'half' },
    ],
    [
      { exitCode: 0, killed: true },
      { success: false, killed: true },
    ],
    [
      { exitCode: 137, oomKilled: true },
      { success: false, oomKilled: true },
    ],
    [
      { truncated: true, stdout: 'x' },
      { success: true, truncated: true },
    ],
    [
      { exitCode: 139, signal: 'SIGSEGV', cpuMs: 1.5, maxMemoryBytes: 4_096 },
      { success: false, exitCode: 139, signal: 'SIGSEGV', cpuMs: 1.5, maxMemoryBytes: 4_096 },
    ],
    [{ stdout: 'a', stderr: 'b' }, { output: 'a\nb' }],
    [{ stdout: 'a\n', stderr: 'b' }, { output: 'a\nb' }],
  ])('turns the result %j into %j', async (result, output) => {
    expect(await setUp(result).execute({ command: 'x' })).toMatchObject(output);
  });

  it('copies workspace files in, each once and under the path as it is kept', async () => {
    await save('data.csv', 'a,b');
    await save('sub/x.txt', 'x');
    const { evaluate, sandbox } = setUp();
    await evaluate({ code: 'x', files: ['./data.csv', 'data.csv', 'sub\\x.txt'] });
    expect(sandbox.requests[0]?.files).toEqual([fileOf('data.csv', 'a,b'), fileOf('sub/x.txt', 'x')]);
  });

  it('saves files that the run made or changed', async () => {
    await save('data.csv', 'old');
    const { evaluate } = setUp({ files: [fileOf('data.csv', 'new!'), fileOf('out/plot.txt', '')] });
    expect(await evaluate({ code: 'x', files: ['data.csv'] })).toMatchObject({
      success: true,
      files: [
        { path: 'data.csv', bytes: 4 },
        { path: 'out/plot.txt', bytes: 0 },
      ],
      filesNotSaved: [],
    });
    expect(await load('data.csv')).toBe('new!');
    expect(await load('out/plot.txt')).toBe('');
  });

  it('saves what a failed run left', async () => {
    expect(await setUp({ exitCode: 1, files: [fileOf('partial.txt', 'x')] }).execute({ command: 'x' })).toMatchObject({
      success: false,
      files: [{ path: 'partial.txt' }],
    });
  });

  it('lists files that the workspace refuses, with the reason, and keeps the others', async () => {
    const files = [
      fileOf('.ssh/key', 'x'),
      fileOf('../up', 'x'),
      fileOf('big', 'x'.repeat(901)),
      fileOf('1', 'x'),
      fileOf('huge', 'x'.repeat(1_000)),
      fileOf('2', 'x'),
      fileOf('3', 'x'),
      fileOf('4', 'x'),
      fileOf('5', 'x'),
    ];
    const { execute } = setUp({ files }, { maxFileBytes: 900 });
    await save('kept', 'x'.repeat(100));
    expect(await execute({ command: 'x' })).toMatchObject({
      success: true,
      files: ['1', '2', '3'].map((path) => ({ path, bytes: 1 })),
      filesNotSaved: [
        { path: '.ssh/key', reason: 'Skill file path contains a restricted segment' },
        { path: '../up', reason: 'Skill file path escapes the skill workspace' },
        { path: 'big', reason: 'Skill file write exceeds the 900 byte limit' },
        { path: 'huge', reason: 'Skill file write exceeds the 900 byte limit' },
        { path: '4', reason: 'Skill workspace is full: at most 4 files' },
        { path: '5', reason: 'Skill workspace is full: at most 4 files' },
      ],
    });
  });

  it('tells what did not come back from the sandbox beside what the workspace refuses', async () => {
    const skippedFiles = [
      { path: 'link', reason: 'It is a symbolic link' },
      { path: 'large', reason: 'It is larger than 1048576 bytes' },
    ];
    const { evaluate, execute } = setUp({ files: [fileOf('a', 'x'), fileOf('../up', 'x')], skippedFiles, skippedFileCount: 15_000 });
    const expected = {
      success: true,
      files: [{ path: 'a', bytes: 1 }],
      filesNotSavedCount: 15_001,
      filesNotSaved: [...skippedFiles, { path: '../up', reason: 'Skill file path escapes the skill workspace' }],
    };
    expect(await evaluate({ code: 'x' })).toMatchObject(expected);
    expect(await execute({ command: 'x' })).toMatchObject(expected);
  });

  it('names 100 files that are lost and counts all', async () => {
    const files = Array.from({ length: 150 }, (_, index) => fileOf(`f${index}`, ''));
    const skippedFiles = [{ path: 'link', reason: 'It is a symbolic link' }];
    const output = (await setUp({ files, skippedFiles }).execute({ command: 'x' })) as JsonObject;
    expect(output.files).toHaveLength(4);
    expect(output.filesNotSaved).toHaveLength(100);
    expect(output.filesNotSavedCount).toBe(147);
  });

  describe('files whose names the workspace takes for one', () => {
    const [composed, decomposed] = ['é.txt', 'e\u0301.txt'];
    const reason = `The workspace takes it for another file of the run: ${composed}`;

    it.each([[[fileOf(composed, '1'), fileOf(decomposed, '2')]], [[fileOf(decomposed, '2'), fileOf(composed, '1')]]])(
      'save the one that has the name of the workspace, in any order',
      async (files) => {
        expect(await setUp({ files }).execute({ command: 'x' })).toMatchObject({
          files: [{ path: composed, bytes: 1 }],
          filesNotSavedCount: 1,
          filesNotSaved: [{ path: decomposed, reason }],
        });
        expect(await load(composed)).toBe('1');
      },
    );

    it('save the first of those that have other names', async () => {
      const files = [fileOf('a\\b', '1'), fileOf('a\\\\b', '2'), fileOf(decomposed, '2')];
      expect(await setUp({ files }).execute({ command: 'x' })).toMatchObject({
        files: [{ path: 'a/b' }, { path: composed }],
        filesNotSaved: [{ path: 'a\\\\b', reason: 'The workspace takes it for another file of the run: a/b' }],
      });
    });

    it('leave a file alone that was copied in and did not change', async () => {
      await save(composed, 'mine');
      const { execute } = setUp({ files: [fileOf(decomposed, '2')] });
      expect(await execute({ command: 'x', files: [composed] })).toMatchObject({
        files: [],
        filesNotSaved: [{ path: decomposed, reason }],
      });
      expect(await load(composed)).toBe('mine');
    });
  });

  it('says so when the workspace cannot be reached, and nothing of why', async () => {
    const down: Workspace = { read: workspace.read, write: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:8888')) };
    const sandbox = createRecordingSandbox({ files: [fileOf('a', 'x')] });
    expect(await callSkill(evalCode, { code: 'x' }, createSkillContext({ sandbox, workspace: down }))).toMatchObject({
      success: true,
      filesNotSaved: [{ path: 'a', reason: 'The workspace could not be reached' }],
    });
  });

  it('hands on why there was no run', async () => {
    const sandbox = { run: () => Promise.reject(new SkillError('No sandbox host is available', { beforeRun: true })) };
    await expect(callSkill(evalCode, { code: 'x' }, createSkillContext({ sandbox }))).rejects.toMatchObject({
      message: 'No sandbox host is available',
      beforeRun: true,
    });
  });

  it('may take longer than the longest run', () => {
    expect(evalCode.timeoutMs).toBeGreaterThan(60_000);
    expect(executeCommand.timeoutMs).toBeGreaterThan(60_000);
  });
});

describe('workspace files that are more than one run may have', () => {
  it('are refused while they are read, long before all of them are', async () => {
    const megabyte = new Uint8Array(1_048_576);
    let reads = 0;
    const large: Workspace = {
      write: workspace.write,
      async read() {
        reads += 1;
        return megabyte;
      },
    };
    const { sandbox, context } = setUp();
    const files = Array.from({ length: 1_000 }, (_, index) => `${index}.bin`);
    const run = callSkill(evalCode, { code: '1', files }, { ...context, workspace: large });
    await expect(run).rejects.toEqual(new SkillError('Program and files are larger than 20971520 bytes'));
    expect(reads).toBeLessThanOrEqual(24);
    expect(sandbox.requests).toEqual([]);
  });
});
