import type { DirectRun, RunDirect } from '../../quickjs/direct-run.ts';
import { SkillError } from '../define.ts';
import { joinOutput, type SandboxInput, type SandboxOutput } from './run-in-sandbox.ts';

/** Stands where a run in a container names its image. */
const DIRECT_IMAGE = 'quickjs';

/** A program that is not longer than this, in UTF-16 units, is taken for one that runs shortly. */
const MAX_SHORT_CODE = 32_768;
/** What programs need Node for most often. To find it in a comment costs a container, and nothing else. */
const NODE_HINT = /\b(?:import|require|fetch|Buffer|setTimeout|setInterval|setImmediate|process\s*\.\s*(?!exit|stdout|stderr))\b/;

/** What a call asks for that there is in a container alone, or undefined. */
export function findSandboxNeed(language: string, { image, networkEnabled, files }: SandboxInput): string | undefined {
  if (language === 'python' || language === 'py') return 'Python';
  if (image !== undefined) return 'container images';
  if (networkEnabled) return 'network access';
  return files.length > 0 ? 'workspace files' : undefined;
}

/** Whether a program looks as if it runs to its end in QuickJS. `longMs` is what a caller that asks for more time expects to need. */
export const looksDirect = (code: string, timeoutMs: number | undefined, longMs: number): boolean =>
  code.length <= MAX_SHORT_CODE && (timeoutMs ?? 0) <= longMs && !NODE_HINT.test(code);

/** Whether the program came to its end as it would have in Node. */
export const isConclusive = ({ end }: DirectRun): boolean => end.kind === 'exited';

const unsupported = (what: string): SkillError =>
  new SkillError(
    `eval_code runs JavaScript without ${what} here. Do without it, or have the setting evalMode changed to "sandbox" or to "hybrid" with evalAutoUpgrade.`,
  );

/** Throws the SkillError that answers a call which cannot be run here. */
export function refuseDirect(need: string): never {
  throw unsupported(need);
}

const MORE_IN_SANDBOX = 'In a container it may take more: see the setting evalMode.';

/** What is said on stderr of how we stopped the program, and the parts of the output that tell it too. */
function describeEnd(end: DirectRun['end']): { exitCode: number; message: string; killed?: boolean; oomKilled?: boolean } {
  switch (end.kind) {
    case 'exited':
      return { exitCode: end.exitCode, message: '' };
    case 'syntax':
      return { exitCode: 1, message: '' };
    case 'stack':
      return { exitCode: 1, message: 'Uncaught RangeError: Maximum call stack size exceeded\n' };
    case 'fuel':
      return { exitCode: 137, message: `Stopped: the program computes for too long. ${MORE_IN_SANDBOX}\n`, killed: true };
    case 'memory':
      return { exitCode: 137, message: `Stopped: the program needs too much memory. ${MORE_IN_SANDBOX}\n`, oomKilled: true };
    case 'node':
      throw unsupported(end.what);
    case 'fault':
      throw new SkillError('The program made QuickJS fail, in which eval_code runs JavaScript here');
    default:
      return end satisfies never;
  }
}

/** The run as a run in a container is told. Throws a SkillError when the program needs what QuickJS does not have. */
export function toSandboxOutput(run: Awaited<ReturnType<RunDirect>>): SandboxOutput {
  const { exitCode, message, killed = false, oomKilled = false } = describeEnd(run.end);
  const { stdout, truncated, durationMs } = run;
  const stderr = message === '' ? run.stderr : joinOutput(run.stderr, message);
  return {
    success: exitCode === 0,
    image: DIRECT_IMAGE,
    exitCode,
    stdout,
    stderr,
    output: joinOutput(stdout, stderr),
    truncated,
    durationMs,
    killed,
    timedOut: killed,
    oomKilled,
    files: [],
    filesNotSaved: [],
    filesNotSavedCount: 0,
  };
}
