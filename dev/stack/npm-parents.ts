import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, isRunning, type ProcessIdentity, parentOf } from './process-identity.ts';

const INTERVAL_MS = 500;

/** npm sets it for the script that it runs, and a shell in between hands it on. */
const isInScript = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((entry) => entry.startsWith('npm_lifecycle_event='));
  } catch {
    return false;
  }
};

/** Our parents up to npm itself; the nearest alone where the system does not tell of the others. */
export function listNpmParents(): ProcessIdentity[] {
  const parents: ProcessIdentity[] = [];
  for (let pid: number | undefined = process.ppid; pid !== undefined && pid > 0; pid = isInScript(pid) ? parentOf(pid) : undefined) {
    const parent = identifyProcess(pid);
    if (parent !== undefined) parents.push(parent);
  }
  return parents;
}

/** Resolves when one of the processes is gone, however it went; keeps nobody from ending. */
export async function firstGone(processes: readonly ProcessIdentity[]): Promise<void> {
  while (processes.every(isRunning)) await delay(INTERVAL_MS, undefined, { ref: false });
}
