import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.ts';
import { createRunDirect } from '../../../src/quickjs/create-run-direct.ts';
import type { Settings } from '../../../src/settings.ts';
import { evalCode } from '../../../src/skills/builtin/eval-code.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { loadQuickJs } from '../../support/load-quickjs.ts';
import { createRecordingSandbox, createSkillContext } from '../../support/skill-context.ts';

function setUp(evalMode: Settings['evalMode'], evalAutoUpgrade = true, signal = new AbortController().signal) {
  let time = 0;
  const now = () => {
    time += 3;
    return time;
  };
  const sandbox = createRecordingSandbox({ stdout: 'from the container\n' });
  const context = createSkillContext({
    signal,
    sandbox,
    runDirect: createRunDirect({ loadQuickJs, now, random: Math.random }),
    loadEvalSettings: async () => ({ evalMode, evalAutoUpgrade }),
    workspace: { read: async () => new Uint8Array(), write: async (path) => ({ path }) },
    limits: { ...createSkillContext().limits, sandboxNetworkEnabled: true, maxSandboxOutputChars: 1_000 },
  });
  return { sandbox, evaluate: (input: JsonObject) => callSkill(evalCode, input, context) };
}

const inContainer = { image: 'node:22-alpine', stdout: 'from the container\n' };
const wants = (what: string) =>
  new SkillError(
    `eval_code runs JavaScript without ${what} here. Do without it, or have the setting evalMode changed to "sandbox" or to "hybrid" with evalAutoUpgrade.`,
  );
const TIMED_OUT = 'for (;;) console.log("on")';

describe('evalMode sandbox', () => {
  it('runs every program in a container', async () => {
    const { evaluate, sandbox } = setUp('sandbox');
    expect(await evaluate({ code: 'console.log(1)' })).toMatchObject(inContainer);
    expect(sandbox.requests).toHaveLength(1);
  });
});

describe('evalMode direct', () => {
  it('answers in the shape of a run in a container', async () => {
    const { evaluate, sandbox } = setUp('direct');
    expect(await evaluate({ code: 'console.log(1); console.error(2)', language: 'JS' })).toEqual({
      success: true,
      language: 'js',
      image: 'quickjs',
      exitCode: 0,
      stdout: '1\n',
      stderr: '2\n',
      output: '1\n2\n',
      truncated: false,
      durationMs: 3,
      killed: false,
      timedOut: false,
      oomKilled: false,
      files: [],
      filesNotSaved: [],
      filesNotSavedCount: 0,
    });
    expect(sandbox.requests).toEqual([]);
  });

  it('tells of a program that fails', async () => {
    const { evaluate } = setUp('direct');
    expect(await evaluate({ code: 'process.stdout.write("a"); throw new Error("boom")' })).toMatchObject({
      success: false,
      exitCode: 1,
      stdout: 'a',
      stderr: expect.stringMatching(/^Uncaught Error: boom\n {4}at /),
      output: expect.stringMatching(/^a\nUncaught Error: boom\n/),
    });
    expect(await evaluate({ code: 'process.exit(3)' })).toMatchObject({ success: false, exitCode: 3, killed: false });
    expect(await evaluate({ code: 'let x = ;' })).toMatchObject({
      success: false,
      exitCode: 1,
      stderr: expect.stringContaining('SyntaxError'),
    });
    expect(await evaluate({ code: '(function f() { f() })()' })).toMatchObject({
      success: false,
      exitCode: 1,
      stderr: 'Uncaught RangeError: Maximum call stack size exceeded\n',
    });
  });

  it('tells of a program that it stopped, with what it printed', async () => {
    const { evaluate } = setUp('direct');
    expect(await evaluate({ code: TIMED_OUT })).toMatchObject({
      success: false,
      exitCode: 137,
      killed: true,
      timedOut: true,
      oomKilled: false,
      truncated: true,
      stdout: expect.stringMatching(/^on\non\n/),
      stderr: 'Stopped: the program computes for too long. In a container it may take more: see the setting evalMode.\n',
    });
    expect(await evaluate({ code: 'console.log("on"); const a = []; for (;;) a.push({})' })).toMatchObject({
      success: false,
      exitCode: 137,
      killed: false,
      timedOut: false,
      oomKilled: true,
      stdout: 'on\n',
      stderr: 'Stopped: the program needs too much memory. In a container it may take more: see the setting evalMode.\n',
    });
  });

  it.each([
    [{ code: 'print(1)', language: 'python' }, 'Python'],
    [{ code: 'print(1)', language: 'py' }, 'Python'],
    [{ code: '1', image: 'node:22-alpine' }, 'container images'],
    [{ code: '1', networkEnabled: true }, 'network access'],
    [{ code: '1', files: ['a.txt'] }, 'workspace files'],
    [{ code: 'require("fs")' }, 'require'],
    [{ code: 'import fs from "fs"' }, 'the module "fs"'],
    [{ code: 'fetch("https://example.com")' }, 'fetch'],
    [{ code: 'console.log(process.env)' }, 'process.env'],
  ])('answers %j with an error', async (input, what) => {
    const { evaluate, sandbox } = setUp('direct');
    await expect(evaluate(input)).rejects.toEqual(wants(what));
    expect(sandbox.requests).toEqual([]);
  });

  it('runs no program whose caller has left', async () => {
    const { evaluate } = setUp('direct', true, AbortSignal.abort(new Error('gone')));
    await expect(evaluate({ code: 'console.log(1)' })).rejects.toEqual(new Error('gone'));
  });

  it('runs several programs at once, each on its own', async () => {
    const { evaluate } = setUp('direct');
    const codes = Array.from({ length: 8 }, (_, index) => `globalThis.n = (globalThis.n ?? 0) + ${index}; await null; console.log(n)`);
    const outputs = await Promise.all([...codes, TIMED_OUT].map((code) => evaluate({ code })));
    expect(outputs.slice(0, 8).map(({ stdout }) => stdout)).toEqual(codes.map((_, index) => `${index}\n`));
    expect(await evaluate({ code: 'console.log("after")' })).toMatchObject({ stdout: 'after\n' });
  });
});

describe('evalMode hybrid', () => {
  it.each([
    ['a short program', 'console.log([1, 2].map((x) => x * 2))', '[ 2, 4 ]\n'],
    ['one that throws', 'try { throw new Error("x") } catch { console.log("caught") }', 'caught\n'],
    ['one that exits', 'process.stdout.write("x"); process.exit(0)', 'x'],
  ])('runs %s in the worker', async (_, code, stdout) => {
    const { evaluate, sandbox } = setUp('hybrid');
    expect(await evaluate({ code })).toMatchObject({ image: 'quickjs', stdout });
    expect(sandbox.requests).toEqual([]);
  });

  it('does not repeat a program that failed by itself', async () => {
    const { evaluate, sandbox } = setUp('hybrid');
    expect(await evaluate({ code: 'throw new Error("mine")' })).toMatchObject({ image: 'quickjs', exitCode: 1 });
    expect(await evaluate({ code: 'process.exit(5)' })).toMatchObject({ image: 'quickjs', exitCode: 5 });
    expect(sandbox.requests).toEqual([]);
  });

  it.each([
    [{ code: '1', language: 'python' }, 'python:3.12-alpine'],
    [{ code: '1', image: 'alpine:3.20' }, 'alpine:3.20'],
    [{ code: '1', networkEnabled: true }, 'node:22-alpine'],
    [{ code: '1', files: ['a.txt'] }, 'node:22-alpine'],
    [{ code: '1', timeoutMs: 20_000 }, 'node:22-alpine'],
    [{ code: 'require("os")' }, 'node:22-alpine'],
    [{ code: 'import os from "os"' }, 'node:22-alpine'],
    [{ code: 'await fetch("http://x")' }, 'node:22-alpine'],
    [{ code: 'process.argv' }, 'node:22-alpine'],
    [{ code: `// ${'x'.repeat(33_000)}` }, 'node:22-alpine'],
  ])('starts %j in a container', async (input, image) => {
    const { evaluate, sandbox } = setUp('hybrid', false);
    expect(await evaluate(input)).toMatchObject({ image });
    expect(sandbox.requests).toHaveLength(1);
  });

  const upgraded: [string, string][] = [
    ['takes too long', TIMED_OUT],
    ['takes too much memory', 'const a = []; for (;;) a.push({})'],
    ['recurses too deep', '(function f() { f() })()'],
    ['needs what only Node has', 'globalThis["set" + "Timeout"](() => {}, 1)'],
    ['depends on a locale', '(1234).toLocaleString()'],
    ['is written in what QuickJS does not read', 'let x: number = 1'],
  ];
  it.each(upgraded)('repeats in a container, once, what %s', async (_, code) => {
    const { evaluate, sandbox } = setUp('hybrid');
    expect(await evaluate({ code })).toMatchObject(inContainer);
    expect(sandbox.requests.map(({ stdin, image }) => [stdin, image])).toEqual([[code, 'node:22-alpine']]);
  });

  it('repeats nothing without evalAutoUpgrade', async () => {
    const { evaluate, sandbox } = setUp('hybrid', false);
    expect(await evaluate({ code: TIMED_OUT })).toMatchObject({ image: 'quickjs', timedOut: true });
    await expect(evaluate({ code: '(1).toLocaleString()' })).rejects.toEqual(wants('Number.prototype.toLocaleString'));
    expect(sandbox.requests).toEqual([]);
  });
});
