import type { Task, TaskState } from './task.ts';

export interface TaskFilter {
  contextId?: string | undefined;
  state?: TaskState | undefined;
  /** ISO 8601 UTC; tasks that changed later. */
  changedAfter?: string | undefined;
  /** The last task of the page before. */
  after?: { updatedAt: string; id: string } | undefined;
  limit: number;
}

/** Tasks, each of one owner. What has expired, or belongs to another, is not there. */
export interface TaskStore {
  /** What the key has beyond its bound goes. */
  create(task: Task, apiKeyId: string): Promise<void>;
  /** A task whose isolate has died is `failed` by then. */
  get(id: string, apiKeyId: string): Promise<Task | undefined>;
  /** Stores the task if it still is in the state `from`; whether it was. */
  move(task: Task, from: TaskState, apiKeyId: string): Promise<boolean>;
  /** Those that changed last come first; `total` counts all that the filter lets pass. */
  list(apiKeyId: string, filter: TaskFilter): Promise<{ tasks: Task[]; total: number }>;
  /** Ends the tasks whose isolate died; tells how many. */
  failInterrupted(now: Date): Promise<number>;
  /** Deletes what has expired; tells how many. */
  deleteExpired(now: Date): Promise<number>;
}

/** How long a task can be asked for after its last change. */
export const TASK_TTL_MS = 24 * 3_600_000;
/** How long an isolate may be at work on a task before it counts as dead. */
export const TASK_LEASE_MS = 60_000;
/** Tasks of one key; the oldest go first. */
export const MAX_TASKS_PER_KEY = 1_000;

export const INTERRUPTED = 'The task was interrupted before it was done. Send it again.';
