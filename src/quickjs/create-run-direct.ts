import type { RunDirect } from './direct-run.ts';

/** Some two million turns of a simple loop, a fraction of a second: nothing else of the isolate goes on meanwhile. */
const FUEL = 100_000_000;
/** An isolate has 128 MiB for all that it does. */
const MEMORY_BYTES = 32 * 1024 * 1024;

interface DirectDependencies {
  /** QuickJS as dev/quickjs/build.ts makes it. Workers forbid to compile code, so it comes compiled. */
  loadQuickJs(): Promise<WebAssembly.Module>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Runs programs one after the other, so that an isolate holds one engine at a time. What it needs is loaded when it is first called. */
export function createRunDirect({ loadQuickJs, now }: DirectDependencies): RunDirect {
  let previous: Promise<unknown> = Promise.resolve();
  return async (code, { maxOutputChars }) => {
    const [wasm, { runProgram }] = await Promise.all([loadQuickJs(), import('./run-program.ts')]);
    const run = previous.then(async () => {
      const begun = now();
      const result = await runProgram(wasm, code, { fuel: FUEL, memoryBytes: MEMORY_BYTES, maxOutputChars });
      return { ...result, durationMs: now() - begun };
    });
    previous = run.catch(() => {});
    return run;
  };
}
