import type { JsonValue } from '../json.ts';
import type { Approval } from './approval.ts';
import type { Execution, ExecutionStatus } from './execution.ts';
import type { ParkedCall } from './executor.ts';

/** A repeat of a claim that within this time gets the stored result; after it the claim is free again. */
export const CLAIM_TTL_MS = 24 * 3_600_000;

export const INTERRUPTED = 'interrupted';
export const APPROVAL_EXPIRED = 'The approval expired';

/** A row to insert. Without a lease it is not about to run: it is parked, or was refused. */
export type NewExecution = Execution & { skillId: string };

export interface Claimed {
  execution: Execution;
  /** True when the row was there before: the same call, asked for again. */
  repeated: boolean;
}

/** How a run ended. */
export interface Outcome {
  status: Extract<ExecutionStatus, 'success' | 'error' | 'timeout'>;
  output: JsonValue;
  errorMessage: string | null;
  durationMs: number;
  attempts: number;
  sandboxId: string | null;
  startedAt: string | null;
  finishedAt: string;
}

export interface ExecutionFilter {
  apiKeyId?: string | undefined;
  /** A skill's id, name or `name@version`. */
  skill?: string | undefined;
  status?: ExecutionStatus | undefined;
  /** ISO 8601 UTC; the first moment that counts. */
  from?: string | undefined;
  /** ISO 8601 UTC; the first moment that does not count any more. */
  to?: string | undefined;
}

/** An execution whose input or output is null where it is too long for a list; `omitted` says which. */
export type ListedExecution = Execution & { omitted: ('input' | 'output')[] };

/** A call that has not ended: what it takes to end it, without its input. */
export interface UnfinishedCall extends Pick<Execution, 'id' | 'attempts' | 'sandboxId' | 'createdAt' | 'startedAt' | 'leaseExpiresAt'> {
  /** The approval that a person has yet to decide; null when it waits for nobody. */
  approvalId: string | null;
}

/** Where executions are kept. Every method rejects with `database_unavailable` when the database cannot be reached. */
export interface ExecutionStore {
  /**
   * Inserts the row if its skill may run at this moment, or finds the one that holds the claim already. With an approval the row that it
   * parked takes over the claim instead, and the approval is used up.
   * Rejects with an AppError: `skill_not_found`, `skill_off`, `skills_disabled`, `idempotency_conflict`, or `conflict` for an approval that does not fit.
   */
  claim(execution: NewExecution, approval?: { id: string; inputSha256: string }): Promise<Claimed>;
  /** Inserts the row and its approval, or finds the identical call of the same owner that waits already. Rejects as `claim` does. */
  park(execution: NewExecution, approval: Approval & { inputSha256: string }): Promise<ParkedCall>;
  /** Marks an attempt as begun. False: the row is finished, its run must not go on. */
  start(id: string, attempt: Pick<Outcome, 'attempts' | 'sandboxId'> & { startedAt: string; leaseExpiresAt: string }): Promise<boolean>;
  /** Writes the end of a run. False: the row was finished before, and stays as it is. */
  finish(id: string, outcome: Outcome): Promise<boolean>;
  /** Ends a row whose lease has run out, and gives the row as it is then. */
  interrupt(id: string, now: Date): Promise<Execution | undefined>;
  get(id: string, apiKeyId?: string): Promise<Execution | undefined>;
  /** For those who ask again and again. */
  statusOf(id: string): Promise<ExecutionStatus | undefined>;
  /** The newest call of this id that has not ended. */
  findUnfinished(apiKeyId: string, callId: string): Promise<UnfinishedCall | undefined>;
  /** Newest first. */
  list(filter: ExecutionFilter, limit: number, offset: number): Promise<Execution[]>;
  /** Newest first, without inputs and outputs whose JSON is longer than `maxValueBytes`. */
  listBrief(filter: ExecutionFilter, limit: number, maxValueBytes: number): Promise<ListedExecution[]>;
  count(filter: ExecutionFilter): Promise<number>;
  /** As `listBrief`. */
  listPage(
    filter: ExecutionFilter,
    page: number,
    limit: number,
    maxValueBytes: number,
  ): Promise<{ data: ListedExecution[]; total: number }>;
  /** Ends every row whose lease has run out as `error`, "interrupted"; their number. */
  recoverLeases(now: Date): Promise<number>;
  /** The number of rows that went; unfinished ones stay. */
  deleteOlderThan(cutoff: Date): Promise<number>;
}
