import type { RunDirect } from './direct-run.ts';
import type { RunProgram } from './run-program.ts';

/** Some two million turns of a simple loop, a fraction of a second: nothing else of the isolate goes on meanwhile. */
const FUEL = 100_000_000;
/** An isolate has 128 MiB for all that it does. */
const MEMORY_BYTES = 32 * 1024 * 1024;

interface DirectDependencies {
  /** QuickJS as dev/quickjs/build.ts makes it. Workers forbid to compile code, so it comes compiled. */
  loadQuickJs(): Promise<WebAssembly.Module>;
  /** Milliseconds since 1970. */
  now(): number;
  /** As `Math.random`. */
  random(): number;
}

/** Runs programs one after the other, so that an isolate holds one engine at a time. What it needs is loaded when it is first called. */
export function createRunDirect({ loadQuickJs, now, random }: DirectDependencies): RunDirect {
  let runProgram: RunProgram | undefined;
  let previous: Promise<unknown> = Promise.resolve();
  return async (code, { maxOutputChars, signal }) => {
    const [wasm, { createProgramRunner }] = await Promise.all([loadQuickJs(), import('./run-program.ts')]);
    runProgram ??= createProgramRunner(wasm, random);
    const runNow = runProgram;
    const run = previous.then(async () => {
      signal.throwIfAborted();
      const begun = now();
      const result = await runNow(code, { fuel: FUEL, memoryBytes: MEMORY_BYTES, maxOutputChars });
      return { ...result, durationMs: now() - begun };
    });
    previous = run.catch(() => {});
    return run;
  };
}
