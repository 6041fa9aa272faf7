import { existsSync, readFileSync } from 'node:fs';

/** A process that no later one can be taken for, though ids are used again. */
export interface ProcessIdentity {
  pid: number;
  /** In clock ticks since the machine started; empty where the system does not tell. */
  startTime: string;
}

const HAS_PROC = existsSync('/proc/self/stat');

/** The fields of https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html that follow the program's name, in which anything may stand. */
function readStat(pid: number): { state: string; parent: number; startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Undefined when no such process runs; one that has ended and waits for its parent to notice does not. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!HAS_PROC) return exists(pid) ? { pid, startTime: '' } : undefined;
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' ? undefined : { pid, startTime: stat.startTime };
}

export const isRunning = ({ pid, startTime }: ProcessIdentity): boolean => identifyProcess(pid)?.startTime === startTime;

/** Undefined where the system does not tell. */
export const parentOf = (pid: number): number | undefined => readStat(pid)?.parent;
