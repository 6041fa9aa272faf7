import type { HostErrorCode } from '../src/contract/runs.ts';

/** A failure that the caller of the sandbox-host reads. `server.ts` turns it into a response. */
export class HostError extends Error {
  readonly code: HostErrorCode;
  readonly retryAfterSeconds: number | undefined;
  override readonly name = 'HostError';

  constructor(code: HostErrorCode, message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** What a caller is told: nothing of a failure that nobody foresaw. */
export const describeError = (error: unknown): { error: string; code: HostErrorCode } =>
  error instanceof HostError ? { error: error.message, code: error.code } : { error: 'Internal error', code: 'internal_error' };
