import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const TELL_STRIPPING = `process.on('exit', () => console.log(process.moduleLoadList.some((name) => name.includes('amaro')) ? 'types stripped' : 'read back'))`;

const folder = mkdtempSync(join(tmpdir(), 'omniroute-start-'));
const packages = join(folder, 'node_modules');

/** Starts a sandbox-host that lacks its secret, so that it ends when all of it is loaded. */
function start(): { stdout: string; stderr: string; status: number | null } {
  const program = join(folder, 'sandbox-host', 'start.mjs');
  return spawnSync(process.execPath, ['--import', `data:text/javascript,${TELL_STRIPPING}`, program], { env: {}, encoding: 'utf8' });
}

beforeAll(() => {
  for (const path of ['package.json', 'sandbox-host', 'src/contract', 'src/net'])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  mkdirSync(packages);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ended = { status: 1, stderr: expect.stringContaining('SANDBOX_SECRET') };

it('runs compiled code that is read back, from the first start on', () => {
  expect(start()).toMatchObject({ ...ended, stdout: 'read back\n' });
  expect(start()).toMatchObject({ ...ended, stdout: 'read back\n' });
});

it('starts all the same where compiled code cannot be kept', () => {
  rmSync(join(packages, '.cache'), { recursive: true });
  writeFileSync(join(packages, '.cache'), 'no folder');
  expect(start()).toMatchObject({ ...ended, stdout: 'types stripped\n' });
});
