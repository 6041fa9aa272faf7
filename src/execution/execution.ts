import type { JsonValue } from '../json.ts';

export const EXECUTION_STATUSES = ['pending', 'running', 'success', 'error', 'timeout'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** One recorded run of a skill. Times are ISO 8601 UTC with milliseconds. */
export interface Execution {
  id: string;
  skillId: string | null;
  skillName: string;
  skillVersion: string;
  apiKeyId: string;
  sessionId: string | null;
  requestId: string;
  callId: string;
  input: JsonValue;
  output: JsonValue;
  status: ExecutionStatus;
  errorMessage: string | null;
  durationMs: number | null;
  attempts: number;
  /** URL of the sandbox-host that has the run. */
  sandboxId: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  leaseExpiresAt: string | null;
}

/** Whether the execution has ended; then it never changes again. */
export const isFinished = ({ status }: Pick<Execution, 'status'>): boolean => status !== 'pending' && status !== 'running';
