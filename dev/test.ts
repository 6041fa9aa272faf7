import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, countTests } from './test-counts.ts';

const ROOT = join(import.meta.dirname, '..');

/** Runs a program with its output going through. Resolves to whether it succeeded. */
function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, program), ...args], { cwd: ROOT, stdio: 'inherit' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

async function runStep(name: string, program: string, args: readonly string[]): Promise<Counts> {
  console.log(`> ${name}`);
  const succeeded = await run(program, args);
  console.log(`${succeeded ? 'passed' : 'FAILED'}: ${name}`);
  return succeeded ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runTests(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-test-'));
  const report = join(folder, 'report.json');
  try {
    console.log('> tests');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const succeeded = await run('node_modules/vitest/vitest.mjs', ['run', ...reporters]);
    return countTests(existsSync(report) ? readFileSync(report, 'utf8') : undefined, succeeded);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that must hold, cheapest first; one failure does not hide the next. */
async function runAll(): Promise<Counts[]> {
  if (!(await run('dev/setup.mjs', ['--require-docker', '--browser']))) {
    console.error('the tests need Docker: see above what to do');
    return [{ passed: 0, failed: 1 }];
  }
  return [
    await runStep('format and lint', 'node_modules/@biomejs/biome/bin/biome', ['check', '.']),
    await runStep('types of the worker', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']),
    await runStep('types of everything else', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.node.json']),
    await runTests(),
  ];
}

const counts = await runAll();
const passed = counts.reduce((sum, step) => sum + step.passed, 0);
const failed = counts.reduce((sum, step) => sum + step.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
