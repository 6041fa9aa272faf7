import { isFinished } from '../execution/execution.ts';
import type { ExecutionStore } from '../execution/execution-store.ts';
import { sleep } from '../execution/sleep.ts';
import type { Services } from '../services.ts';

/** Unfinished calls of one owner among which the cancelled one is looked for. */
const MAX_UNFINISHED = 200;
const CHECK_MS = 1_000;
const CANCELLED = 'Cancelled: the client asked for it';

/**
 * Cancels a call that runs, maybe in another isolate: its row is ended here, and the isolate that runs it finds out by `abortWhenEnded`. One
 * that waits for a person is declined. Does nothing when there is no such call any more.
 */
export async function cancelCall(services: Services, apiKeyId: string, callId: string): Promise<void> {
  const { executions, approvals, now } = services;
  const lists = await Promise.all(
    (['running', 'pending'] as const).map((status) => executions.list({ apiKeyId, status }, MAX_UNFINISHED, 0)),
  );
  const execution = lists.flat().find((each) => each.callId === callId);
  if (execution === undefined) return;
  const ended = new Date(now());
  if (execution.leaseExpiresAt === null) {
    const { data } = await approvals.listPage({ apiKeyId, status: 'pending' }, 1, MAX_UNFINISHED);
    const approval = data.find((each) => each.executionId === execution.id);
    if (approval) await approvals.decide(approval.id, 'denied', ended, apiKeyId);
    return;
  }
  const { attempts, sandboxId, startedAt, createdAt } = execution;
  await executions.finish(execution.id, {
    status: 'error',
    output: null,
    errorMessage: CANCELLED,
    durationMs: Math.max(0, ended.getTime() - Date.parse(startedAt ?? createdAt)),
    attempts,
    sandboxId,
    startedAt,
    finishedAt: ended.toISOString(),
  });
}

/** Calls `abort` when the execution is ended by somebody else; until `signal` fires. */
export async function abortWhenEnded(
  executionId: string,
  executions: Pick<ExecutionStore, 'get'>,
  { signal, abort }: { signal: AbortSignal; abort(): void },
): Promise<void> {
  while (!signal.aborted) {
    await sleep(CHECK_MS, signal);
    if (signal.aborted) return;
    // A database that fails does not stop a run.
    const execution = await executions.get(executionId).catch(() => undefined);
    if (execution !== undefined && isFinished(execution)) return abort();
  }
}
