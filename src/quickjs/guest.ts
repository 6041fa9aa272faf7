/** What the code inside the engine can ask of the worker; everything passes as strings, numbers or values of the engine itself. */
export interface Host {
  /** Writes to stdout (1) or stderr (2). A NUL would end the text on its way. */
  write(stream: 1 | 2, text: string): void;
  /** As `write`, for a text that `escapeNuls` has been over. */
  writeEscaped(stream: 1 | 2, text: string): void;
  /** Ends the run at once: it needs what only Node has. */
  needNode(what: string): void;
  /** Ends the run at once. */
  exit(code: number): void;
  /** 0 pending, 1 fulfilled, 2 rejected, and with what. */
  promiseState(promise: Promise<unknown>): [0 | 1 | 2, unknown];
}

/** What the worker calls when the program's own code is done. */
export interface Guest {
  /** Two numbers of 32 bits, from which all random numbers of the program come. */
  seed(high: number, low: number): void;
  exitCode(): number;
  /** How an uncaught error is told on stderr. */
  describeError(error: unknown): string;
  /** Is told of each promise that is rejected while nobody handles it, and of each such one that is handled later. */
  trackRejection(promise: Promise<unknown>, isHandled: boolean): void;
  /** How the first promise that was rejected and is not handled is told on stderr; empty when there is none. */
  describeRejection(): string;
}

/** The globals by which the two find each other; both are gone before the program runs. */
export const HOST_GLOBAL = '__omnirouteHost';
export const GUEST_GLOBAL = '__omnirouteGuest';
/** File name of the code that makes QuickJS look like Node from inside; no stack shows its frames. */
export const GUEST_FILE = 'omniroute:guest';
/** What Node calls a program that comes on standard input. */
export const PROGRAM_FILE = '[stdin]';

/** A text without NUL that stands for any text. */
export const escapeNuls = (text: string): string => text.replaceAll('\x01', '\x01\x02').replaceAll('\0', '\x01\x03');
export const unescapeNuls = (text: string): string => text.replaceAll('\x01\x03', '\0').replaceAll('\x01\x02', '\x01');
