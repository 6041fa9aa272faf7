import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import { CappedOutput } from '../contract/capped-output.ts';
import type { DirectEnd, DirectLimits, DirectRun } from './direct-run.ts';
import { GUEST_SOURCE } from './generated/guest-source.ts';
import { GUEST_FILE, GUEST_GLOBAL, type Guest, HOST_GLOBAL, type Host, PROGRAM_FILE, unescapeNuls } from './guest.ts';
import { type MemoryImage, restoreImage, takeImage } from './memory-image.ts';
import { openQuickJs, type QuickJs } from './open-quickjs.ts';

/** Enough for the code of ours that goes first. */
const OWN_FUEL = 100_000_000;
/** What a call of a function of ours costs on top, about as much as it takes. */
const HOST_CALL_FUEL = 500;
/** One unit for so many characters of output, as a power of two: the worker handles them outside of the engine. */
const OUTPUT_SHIFT = 4;
/** What Node answers when a module waits for what never comes. */
const UNSETTLED_EXIT_CODE = 13;

interface Outcome {
  stdout: CappedOutput;
  stderr: CappedOutput;
  /** Set once the program has ended by itself or been stopped. */
  end: DirectEnd | undefined;
}

/** Ends the code that runs: the next loop or call in the engine traps, and nothing in it can catch that. */
function stop({ fuel }: QuickJs, outcome: Outcome, end: DirectEnd): void {
  outcome.end ??= end;
  fuel.value = 0;
}

/** Why the engine gave up. */
function explainTrap(engine: QuickJs, error: unknown): DirectEnd {
  if (engine.isOutOfMemory()) return { kind: 'memory' };
  if (engine.fuel.value < 0) return { kind: 'fuel' };
  return { kind: error instanceof RangeError ? 'stack' : 'fault' };
}

/** A function of ours as the engine may call it: one that never throws, since what the binding does then would trap in turn, and be logged. */
const guard =
  (engine: QuickJs, outcome: Outcome, run: (...values: QuickJSHandle[]) => QuickJSHandle | undefined) =>
  (...values: QuickJSHandle[]): QuickJSHandle | undefined => {
    try {
      engine.fuel.value -= HOST_CALL_FUEL;
      return run(...values);
    } catch (error) {
      stop(engine, outcome, explainTrap(engine, error));
      return undefined;
    }
  };

/** The object by which the guest's code reaches us. Its functions take and give plain values alone. */
function createHost(engine: QuickJs, outcome: Outcome): QuickJSHandle {
  const { context, fuel } = engine;
  const promiseStates = { pending: 0, fulfilled: 1, rejected: 2 } as const;
  const write = (fd: QuickJSHandle, text: string): undefined => {
    (context.getNumber(fd) === 1 ? outcome.stdout : outcome.stderr).push(text);
    fuel.value -= text.length >> OUTPUT_SHIFT;
  };
  const functions: Record<keyof Host, (...values: QuickJSHandle[]) => QuickJSHandle | undefined> = {
    write: (fd, text) => write(fd!, context.getString(text!)),
    writeEscaped: (fd, text) => write(fd!, unescapeNuls(context.getString(text!))),
    needNode(what) {
      stop(engine, outcome, { kind: 'node', what: context.getString(what!) });
      return undefined;
    },
    exit(code) {
      stop(engine, outcome, { kind: 'exited', exitCode: context.getNumber(code!) });
      return undefined;
    },
    promiseState(promise) {
      const state = context.getPromiseState(promise!);
      const value = state.type === 'pending' ? context.undefined : state.type === 'fulfilled' ? state.value : state.error;
      const pair = context.newArray();
      context.setProp(pair, 0, context.newNumber(promiseStates[state.type]));
      context.setProp(pair, 1, value);
      return pair;
    },
  };
  const host = context.newObject();
  for (const [name, run] of Object.entries(functions)) context.setProp(host, name, context.newFunction(name, guard(engine, outcome, run)));
  return host;
}

/** Answers of the guest, as text. */
const ask = (
  context: QuickJSContext,
  guest: QuickJSHandle,
  question: Exclude<keyof Guest, 'trackRejection' | 'seed'>,
  ...values: QuickJSHandle[]
): string => context.getString(context.unwrapResult(context.callMethod(guest, question, values)));

/** As Node: a script, or else a module. Undefined when it is neither. */
function chooseType(context: QuickJSContext, code: string): 'global' | 'module' | undefined {
  const compiles = (type: 'global' | 'module') => context.evalCode(code, PROGRAM_FILE, { type, compileOnly: true }).error === undefined;
  return (['global', 'module'] as const).find(compiles);
}

/** Runs the program as Node runs a file, up to where it would wait for something from outside. */
function execute(engine: QuickJs, guest: QuickJSHandle, code: string, outcome: Outcome): DirectEnd {
  const { context } = engine;
  context.runtime.setModuleLoader((name) => {
    outcome.end ??= { kind: 'node', what: `the module ${JSON.stringify(name)}` };
    // To stop here would trap the binding's own work. To read this global stops the program as soon as the module runs.
    return 'require';
  });
  const fail = (description: string): DirectEnd => {
    outcome.stderr.push(`${description}\n`);
    return { kind: 'exited', exitCode: 1 };
  };
  const failWith = (error: QuickJSHandle): DirectEnd => {
    const described = context.callMethod(guest, 'describeError', [error]);
    return fail(described.error === undefined ? context.getString(described.value) : 'Uncaught error that cannot be shown');
  };

  const type = chooseType(context, code);
  if (type === undefined) {
    const { error } = context.evalCode(code, PROGRAM_FILE, { type: 'global' });
    if (error !== undefined) failWith(error);
    return { kind: 'syntax' };
  }
  const track = (promise: QuickJSHandle, isHandled: QuickJSHandle): undefined => {
    context.unwrapResult(context.callMethod(guest, 'trackRejection', [promise, isHandled]));
  };
  const guardedTrack = guard(engine, outcome, (promise, isHandled) => track(promise!, isHandled!));
  engine.onRejection((promise, isHandled) => void guardedTrack(promise, isHandled ? context.true : context.false));
  const result = context.evalCode(code, PROGRAM_FILE, { type });
  if (result.error !== undefined) return failWith(result.error);
  const jobs = context.runtime.executePendingJobs();
  if (jobs.error !== undefined) return failWith(jobs.error);
  if (type === 'module') {
    const state = context.getPromiseState(result.value);
    if (state.type === 'rejected') return failWith(state.error);
    if (state.type === 'pending') {
      outcome.stderr.push('Warning: Detected unsettled top-level await\n');
      return { kind: 'exited', exitCode: UNSETTLED_EXIT_CODE };
    }
  }
  const rejection = ask(context, guest, 'describeRejection');
  if (rejection !== '') return fail(rejection);
  return { kind: 'exited', exitCode: Number(ask(context, guest, 'exitCode')) };
}

export type RunProgram = (code: string, limits: DirectLimits) => Promise<DirectRun>;

/**
 * Runs JavaScript programs, each in an instance of QuickJS of its own, without a clock and without a way out, until it ends, needs Node or
 * has used up what `limits` give it. Never rejects for what a program does. `random` is as `Math.random`.
 */
export function createProgramRunner(wasm: WebAssembly.Module, random: () => number): RunProgram {
  /** The memory of an engine that looks like Node from inside and has run no program: to read that code anew takes longer than most runs. */
  let image: MemoryImage | undefined;

  /** Makes the engine look like Node from inside, and answers the object by which we reach the code that does. */
  function installGuest(engine: QuickJs, outcome: Outcome): QuickJSHandle {
    const { context, fuel, memory } = engine;
    fuel.value = OWN_FUEL;
    // An engine that has gone the same steps so far has the same addresses and ids, so that the image fits.
    context.setProp(context.global, HOST_GLOBAL, createHost(engine, outcome));
    if (image === undefined) {
      context.unwrapResult(context.evalCode(GUEST_SOURCE, GUEST_FILE, { type: 'global' }));
      image = takeImage(memory);
    } else restoreImage(memory, image);
    const guest = context.getProp(context.global, GUEST_GLOBAL);
    context.unwrapResult(context.evalCode(`delete globalThis.${GUEST_GLOBAL}`, GUEST_FILE, { type: 'global' }));
    const seed = () => context.newNumber(Math.floor(random() * 2 ** 32));
    context.unwrapResult(context.callMethod(guest, 'seed', [seed(), seed()]));
    return guest;
  }

  return async (code, limits) => {
    const engine = await openQuickJs(wasm, limits);
    const outcome: Outcome = {
      stdout: new CappedOutput(limits.maxOutputChars),
      stderr: new CappedOutput(limits.maxOutputChars),
      end: undefined,
    };
    const guest = installGuest(engine, outcome);
    engine.fuel.value = limits.fuel;
    let end: DirectEnd;
    try {
      end = execute(engine, guest, code.toWellFormed(), outcome);
    } catch (error) {
      end = explainTrap(engine, error);
    }
    const { stdout, stderr } = outcome;
    return { end: outcome.end ?? end, stdout: stdout.text, stderr: stderr.text, truncated: stdout.truncated || stderr.truncated };
  };
}
