import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutputText } from '../../sandbox-host/output-text.ts';
import { runRequest } from '../../src/contract/runs.ts';
import { createRunDirect } from '../../src/quickjs/create-run-direct.ts';
import { evalCode } from '../../src/skills/builtin/eval-code.ts';
import type { SkillContext } from '../../src/skills/define.ts';
import { PROGRAMS, withoutFrames } from '../quickjs/programs.ts';
import { callSkill } from '../support/call-skill.ts';
import { createTestHost, newRunId } from '../support/docker.ts';
import { loadQuickJs } from '../support/load-quickjs.ts';
import { createSkillContext } from '../support/skill-context.ts';

const { host, run } = createTestHost();
afterAll(() => host.drain(0));

const MAX_OUTPUT_CHARS = 100_000;
const runDirect = createRunDirect({ loadQuickJs, now: Date.now, random: Math.random });

interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs each program as eval_code does, all of them in one container. */
const RUN_ALL = `
const { spawnSync } = require('node:child_process');
const programs = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const ended = programs.map((input) => spawnSync(process.execPath, ['-'], { input, encoding: 'utf8', maxBuffer: 1e8 }));
console.log(JSON.stringify(ended.map(({ status: exitCode, stdout, stderr }) => ({ exitCode, stdout, stderr }))));`;

function kept(text: string): string {
  const output = new OutputText(MAX_OUTPUT_CHARS);
  output.push(new TextEncoder().encode(text));
  return output.text;
}

let inNode: Ended[];
beforeAll(async () => {
  const limits = { cpuLimit: 2_000, timeoutMs: 60_000, maxOutputChars: 10_000_000 };
  const stdin = JSON.stringify(PROGRAMS.map(({ code }) => code));
  const result = await run('node:22-alpine', ['node', '--eval', RUN_ALL], { stdin, limits });
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  inNode = JSON.parse(result.stdout) as Ended[];
});

describe('a program does in QuickJS what it does in Node', () => {
  it.each(PROGRAMS.map((program, index) => ({ ...program, index })))('$name', async ({ code, uncaught, index }) => {
    const node = inNode[index] as Ended;
    const context = createSkillContext({ runDirect, loadEvalSettings: async () => ({ evalMode: 'direct', evalAutoUpgrade: false }) });
    const direct = await callSkill(evalCode, { code }, context);
    expect(withoutFrames(direct.stdout as string)).toBe(withoutFrames(kept(node.stdout)));
    expect(direct.exitCode).toBe(node.exitCode);
    expect(direct.truncated).toBe([node.stdout, node.stderr].some((text) => kept(text) !== text));
    if (uncaught === undefined) expect(direct.stderr).toBe(kept(node.stderr));
    else for (const stderr of [direct.stderr, node.stderr]) expect(stderr).toContain(uncaught);
  });
});

describe('hybrid', () => {
  it('repeats in a container what turns out to need one, under the id of its execution', async () => {
    const ids: string[] = [];
    const sandbox: SkillContext['sandbox'] = {
      run(request) {
        const { image, command, env, ...config } = runRequest.parse(request);
        ids.push(config.id);
        return host.runner.run(image, command, env, config);
      },
    };
    const executionId = newRunId();
    const loadEvalSettings = async () => ({ evalMode: 'hybrid', evalAutoUpgrade: true }) as const;
    const context = createSkillContext({ sandbox, runDirect, loadEvalSettings, executionId });
    const evaluate = (code: string) => callSkill(evalCode, { code, timeoutMs: 10_000 }, context);

    expect(await evaluate('console.log(6 * 7)')).toMatchObject({ image: 'quickjs', stdout: '42\n' });
    expect(ids).toEqual([]);
    const needsNode = 'console.log("once"); console.log(globalThis["Buff" + "er"].from("hi").toString("hex"))';
    expect(await evaluate(needsNode)).toMatchObject({ image: 'node:22-alpine', success: true, stdout: 'once\n6869\n' });
    expect(await evaluate('console.log((1234567.5).toLocaleString("en"))')).toMatchObject({
      image: 'node:22-alpine',
      stdout: '1,234,567.5\n',
    });
    expect(await evaluate('let depth = 0; (function f() { depth += 1; try { f() } catch {} })(); console.log(depth > 1000)')).toMatchObject(
      {
        image: 'node:22-alpine',
        stdout: 'true\n',
      },
    );
    expect(ids).toEqual([executionId, executionId, executionId]);
  });
});
