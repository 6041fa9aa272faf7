import { AppError } from '../errors.ts';
import type { Execution } from '../execution/execution.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { ExecutionSummary } from '../providers/adapter.ts';
import { skillKey } from '../skills/skill.ts';

/** What became of one call: what the model reads, and how the run is reported. */
export interface CallOutcome {
  body: JsonObject;
  failed: boolean;
  summary?: ExecutionSummary;
}

export const failure = (error: string): CallOutcome => ({ body: { success: false, error }, failed: true });

export const summarize = ({ id, skillName, skillVersion, status, durationMs }: Execution): ExecutionSummary => ({
  id,
  skill: skillKey({ name: skillName, version: skillVersion }),
  status,
  durationMs,
});

/** What the model reads of an execution that has ended. */
export function outcomeOf(execution: Execution): CallOutcome {
  const failed = execution.status !== 'success';
  const output = execution.output as JsonObject | null;
  return {
    body: failed ? { success: false, error: execution.errorMessage ?? execution.status, ...(output && { output }) } : (output ?? {}),
    failed,
    summary: summarize(execution),
  };
}

/** What the model reads of a call that waits for a person. */
export function parkedOutcome(approvalId: string, expiresAt: string): CallOutcome {
  const error = `The call was NOT run: it needs the user's approval (approval id ${approvalId}, until ${expiresAt}). Tell the user, and do not assume any result.`;
  return { body: { success: false, error, approvalRequired: true, approvalId }, failed: false };
}

/** `signal` fires when the client leaves, `deadline` when the request's time runs out. */
export interface RunSignals {
  signal: AbortSignal;
  deadline: AbortSignal;
}

/** What the model reads of a call that could not even be tried. Throws when the client has left. */
export function outcomeOfError(
  error: unknown,
  about: { requestId: string; skill: string },
  { signal, deadline }: RunSignals,
  log: Logger,
): CallOutcome {
  signal.throwIfAborted();
  if (deadline.aborted) return failure('Not finished: the time for this request ran out');
  if (error instanceof AppError) return failure(error.message);
  log.error('skills.interception.execution_failed', { ...about, error: error instanceof Error ? error.name : 'unknown' });
  return failure('The skill failed unexpectedly');
}
