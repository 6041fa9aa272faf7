import type { RunResult } from '../src/contract/runs.ts';
import { RunRegistry } from './run-registry.ts';
import type { SandboxRunner } from './sandbox-runner.ts';

interface RunnerRegistryParts {
  runner: Pick<SandboxRunner, 'run' | 'kill'>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Hears of each run that ended, with the time since it was asked for, and of each that was refused or lost. */
  onEnd(result: RunResult | undefined, totalMs: number): void;
}

/** The registry of what a runner runs. */
export const createRunnerRegistry = ({ runner, now, onEnd }: RunnerRegistryParts): RunRegistry =>
  new RunRegistry({
    now,
    kill: (id) => runner.kill(id),
    async start({ image, command, env, ...rest }, on) {
      const startedAt = now();
      const result = await runner.run(image, command, env, { ...rest, ...on }).catch((error: unknown) => {
        onEnd(undefined, now() - startedAt);
        throw error;
      });
      onEnd(result, now() - startedAt);
      return result;
    },
  });
