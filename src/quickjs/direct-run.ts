export interface DirectLimits {
  /** Units of work: turns of loops and calls of functions in the engine, of which an interpreted step takes some ten. */
  fuel: number;
  /** All memory of the engine, 16 MiB or more. */
  memoryBytes: number;
  /** UTF-16 units of each of stdout and stderr. */
  maxOutputChars: number;
}

/**
 * How a program ended. What is not `exited` was stopped by us, and the program could do nothing about it: it needs what only Node has
 * (`node`, then `what` names it), it may only be wrong here (`syntax`), or it took too much.
 */
export type DirectEnd =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'node'; what: string }
  | { kind: 'syntax' }
  | { kind: 'fuel' }
  | { kind: 'memory' }
  | { kind: 'stack' }
  | { kind: 'fault' };

/** What became of a program that ran in QuickJS, with what it had printed until then. */
export interface DirectRun {
  end: DirectEnd;
  stdout: string;
  stderr: string;
  truncated: boolean;
}

export interface DirectOptions extends Pick<DirectLimits, 'maxOutputChars'> {
  /** A program that waits for its turn does not run once this fires. */
  signal: AbortSignal;
}

/**
 * Runs one JavaScript program inside the worker. It sees nothing but its own text, and nothing but this result comes of it. Rejects with the
 * signal's reason where that fires first.
 */
export type RunDirect = (code: string, options: DirectOptions) => Promise<DirectRun & { durationMs: number }>;
