import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from './settings.ts';

const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href;
const STOP_TIMEOUT_MS = 10_000;
const START_TIMEOUT_MS = 60_000;
/** A process that a part left behind to clean up after it may hold on to its output for so long. */
const OUTPUT_TIMEOUT_MS = 10_000;

export interface PartPlan {
  name: string;
  /** A program for Node and its arguments. */
  command: readonly string[];
  env: Environment;
  /** Answers, with whatever status, once the part is there. */
  readyUrl: string;
}

/** One process of the stack, with everything it starts itself. */
export interface Part {
  name: string;
  pid: number;
  /** Resolves, when the process is gone, to a sentence that says how it went. */
  ended: Promise<string>;
  /** Asks the process to end, and ends it after a while; nothing that it started is left. */
  stop(): Promise<void>;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group is gone already.
  }
}

/** Of a log that says what goes well, which is no reason for an end. */
function isInfo(line: string): boolean {
  try {
    return (JSON.parse(line) as { level?: unknown } | null)?.level === 'info';
  } catch {
    return false;
  }
}

function followOutput(child: ChildProcess, log: (line: string) => void): { last: string } {
  const seen = { last: '' };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() !== '') seen.last = isInfo(line) ? '' : line.trim();
      log(line);
    });
  }
  return seen;
}

const answers = async (url: string, signal: AbortSignal): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
};

/** Starts a part in a process group of its own and waits until it answers. Rejects, with nothing left, when it does not. */
export async function startPart(
  { name, command, env, readyUrl }: PartPlan,
  log: (line: string) => void,
  onSpawn: (pid: number) => void,
): Promise<Part> {
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, ...command], {
    env: env as NodeJS.ProcessEnv,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) onSpawn(child.pid);
  // Broken when the part dies, which its end tells.
  child.stdin.on('error', () => {});
  const output = followOutput(child, log);
  const outputClosed = once(child, 'close');
  const gone = new AbortController();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${name} cannot be started: ${error.message}`));
    child.once('exit', async (code, signal) => {
      if (child.pid !== undefined) killGroup(child.pid);
      const how = signal === null ? `exit code ${code}` : signal;
      await Promise.race([outputClosed, delay(OUTPUT_TIMEOUT_MS, undefined, { ref: false })]);
      resolve(`${name} ended (${how})${output.last === '' ? '' : `: ${output.last}`}`);
    });
  }).finally(() => gone.abort());

  const waitForAnswer = async (): Promise<string | undefined> => {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(readyUrl, gone.signal))) {
      if (gone.signal.aborted) return ended;
      if (Date.now() > deadline) return `${name} does not answer on ${readyUrl}`;
      await delay(25);
    }
    return undefined;
  };

  const part: Part = {
    name,
    pid: child.pid ?? 0,
    ended,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.pid !== undefined && killGroup(child.pid), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
  const failure = await Promise.race([ended, waitForAnswer()]);
  if (failure === undefined) return part;
  await part.stop();
  throw new Error(failure);
}

/** Where a program of the project is, given its path from the root. */
export const programPath = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
