import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from '../../dev/stack/data-lock.ts';
import { identifyProcess } from '../../dev/stack/process-identity.ts';

let parent = '';
let folder = '';
const children: ChildProcess[] = [];
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'omniroute-lock-'));
  folder = join(parent, 'a', 'data');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true, force: true });
});

function startSleeper(): { pid: number; child: ChildProcess } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  if (child.pid === undefined) throw new Error('no process was started');
  return { pid: child.pid, child };
}

const startTimeOf = (pid: number): string => identifyProcess(pid)?.startTime ?? 'none';

const leaveLock = (lock: unknown): void =>
  writeFileSync(join(folder, 'stack.lock'), typeof lock === 'string' ? lock : JSON.stringify(lock));

describe('lockDataFolder', () => {
  it('makes the folder for its owner alone, and leaves nothing in it', async () => {
    const lock = await lockDataFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    lock.release();
    expect(existsSync(join(folder, 'stack.lock'))).toBe(false);
  });

  it('refuses a folder that a running process has, by its name and id', async () => {
    (await lockDataFolder(folder)).release();
    const { pid } = startSleeper();
    leaveLock({ holder: { pid, startTime: startTimeOf(pid) }, parts: [] });
    await expect(lockDataFolder(folder)).rejects.toThrow(
      `DATA_DIR ${folder} is used by a running stack (process ${pid}): stop that one, or set DATA_DIR to another folder`,
    );
  });

  it.each([
    ['of a process that is gone', { holder: { pid: 2 ** 22 + 1, startTime: '1' }, parts: [] }],
    ['whose id another process has by now', { holder: { pid: process.pid, startTime: '1' }, parts: [] }],
    ['that is damaged', '{"holder":'],
    ['that is empty', ''],
  ])('takes over a lock %s', async (_, left) => {
    (await lockDataFolder(folder)).release();
    leaveLock(left);
    const lock = await lockDataFolder(folder);
    const { holder } = JSON.parse(readFileSync(join(folder, 'stack.lock'), 'utf8')) as { holder: object };
    expect(holder).toEqual({ pid: process.pid, startTime: startTimeOf(process.pid) });
    lock.release();
  });

  it('lets one in of many that come at once over a stale lock', async () => {
    (await lockDataFolder(folder)).release();
    leaveLock({ holder: { pid: 2 ** 22 + 1, startTime: '1' }, parts: [] });
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => lockDataFolder(folder)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('waits for the parts of a stack that was killed', async () => {
    const first = await lockDataFolder(folder);
    const { pid, child } = startSleeper();
    first.addPart(pid);
    const { parts } = JSON.parse(readFileSync(join(folder, 'stack.lock'), 'utf8')) as { parts: object[] };
    expect(parts).toEqual([{ pid, startTime: startTimeOf(pid) }]);
    leaveLock({ holder: { pid: process.pid, startTime: '1' }, parts });
    let isKilled = false;
    const second = lockDataFolder(folder).then(() => [isKilled, identifyProcess(pid)]);
    setTimeout(() => {
      isKilled = child.kill('SIGKILL');
    }, 200);
    expect(await second).toEqual([true, undefined]);
  });

  it.each([
    ['/proc/x', 'ENOENT'],
    ['/proc', 'ENOENT'],
    ['/dev/null', 'EEXIST'],
    ['/dev/null/x/y', 'EEXIST'],
  ])('says that %s cannot be used', async (path, code) => {
    await expect(lockDataFolder(path)).rejects.toThrow(`DATA_DIR ${path} cannot be used: ${code}`);
  });
});
