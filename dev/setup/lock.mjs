import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a process with this id exists, whoever owns it. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

const holderOf = (path) => {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
};

/**
 * Runs `work` while no other process of this machine is inside the same lock. A lock whose holder died is taken over.
 * @template Result
 * @param {string} path file that holds the id of the process inside
 * @param {() => Promise<Result>} work
 * @param {{ timeoutMs?: number }} options how long to wait for the other process
 * @returns {Promise<Result>}
 */
export async function withLock(path, work, { timeoutMs = 300_000 } = {}) {
  mkdirSync(dirname(path), { recursive: true });
  const deadline = Date.now() + timeoutMs;
  while (!tryTake(path)) {
    const holder = holderOf(path);
    if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true });
    else if (Date.now() > deadline) throw new Error(`another set-up (process ${holder}) holds ${path}`);
    else await delay(100);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryTake(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}
