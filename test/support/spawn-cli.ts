import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const CLI_FILE = join(import.meta.dirname, '..', '..', 'cli', 'omniroute-edge.mjs');

export interface CliProcess {
  child: ChildProcessWithoutNullStreams;
  /** Resolves once it has ended. */
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Starts a program, the command line by default, in a process of its own. */
export function spawnCli(
  args: readonly string[],
  { env = {}, program = process.execPath, cwd }: { env?: Record<string, string | undefined>; program?: string; cwd?: string } = {},
): CliProcess {
  const line = program === process.execPath ? [CLI_FILE, ...args] : args;
  const child = spawn(program, line, { env: { ...process.env, ...env }, stdio: 'pipe', ...(cwd !== undefined && { cwd }) });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts })) };
}
