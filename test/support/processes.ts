import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface RunningProcess {
  pid: number;
  /** The program with its arguments. */
  command: string;
}

function listProcesses(): (RunningProcess & { parent: number })[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]);
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        // Gone since it was listed.
        return [];
      }
    });
}

/** The processes below another one. */
export function listDescendants(pid: number): RunningProcess[] {
  const all = listProcesses();
  const below = (parent: number): RunningProcess[] =>
    all.filter((process) => process.parent === parent).flatMap((process) => [process, ...below(process.pid)]);
  return below(pid);
}

const isRunning = ({ pid }: RunningProcess): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Rejects with the processes that are still there after a while. */
export async function waitUntilGone(processes: readonly RunningProcess[], timeoutMs = 20_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; ; await delay(50)) {
    const left = processes.filter(isRunning);
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`still running: ${left.map(({ command }) => command).join('; ')}`);
  }
}
