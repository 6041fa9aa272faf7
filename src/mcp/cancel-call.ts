import { isFinished } from '../execution/execution.ts';
import type { ExecutionStore } from '../execution/execution-store.ts';
import { sleep } from '../execution/sleep.ts';
import type { Services } from '../services.ts';

const CHECK_MS = 1_000;
const CANCELLED = 'Cancelled: the client asked for it';

/**
 * Cancels a call that runs, maybe in another isolate: its row is ended here, and the isolate that runs it finds out by `abortWhenEnded`. One
 * that waits for a person is declined. Does nothing when there is no such call any more.
 */
export async function cancelCall(services: Services, apiKeyId: string, callId: string): Promise<void> {
  const { executions, approvals, now } = services;
  const call = await executions.findUnfinished(apiKeyId, callId);
  if (call === undefined) return;
  const ended = new Date(now());
  const { id, attempts, sandboxId, startedAt, createdAt, leaseExpiresAt, approvalId } = call;
  if (leaseExpiresAt === null) {
    if (approvalId !== null) await approvals.decide(approvalId, 'denied', ended, apiKeyId);
    return;
  }
  await executions.finish(id, {
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
  executions: Pick<ExecutionStore, 'statusOf'>,
  { signal, abort }: { signal: AbortSignal; abort(): void },
): Promise<void> {
  while (!signal.aborted) {
    await sleep(CHECK_MS, signal);
    if (signal.aborted) return;
    // A database that fails does not stop a run.
    const status = await executions.statusOf(executionId).catch(() => undefined);
    if (status !== undefined && isFinished({ status })) return abort();
  }
}
