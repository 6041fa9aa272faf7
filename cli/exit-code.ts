/** How the command ends, which scripts decide by; the README lists them. */
export const EXIT_CODE = {
  ok: 0,
  /** What was asked for failed, an execution for instance. */
  failed: 1,
  usage: 2,
  /** Nothing answers, or something that is no gateway. */
  unreachable: 3,
  /** The token is missing or wrong, or lacks a scope. */
  unauthorized: 4,
  /** Ctrl-C, as shells count it: 128 and the number of the signal. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];

interface Reason {
  /** As the gateway says it, such as `skill_not_found`, or one of the command's own. */
  code: string;
  details?: unknown;
  /** What to do, for a person. */
  hint?: string;
}

/** A failure that ends the command with a message. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly reason: Reason;
  override readonly name = 'CommandError';

  constructor(exitCode: ExitCode, message: string, reason: Reason) {
    super(message);
    this.exitCode = exitCode;
    this.reason = reason;
  }
}

export const usageError = (message: string): CommandError => new CommandError(EXIT_CODE.usage, message, { code: 'usage' });

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
