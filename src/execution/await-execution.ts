import { AppError } from '../errors.ts';
import { type Execution, isFinished } from './execution.ts';
import { type ExecutionStore, INTERRUPTED } from './execution-store.ts';
import type { Sleep } from './sleep.ts';

const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 1_000;

interface Waiting {
  executions: Pick<ExecutionStore, 'get' | 'interrupt'>;
  sleep: Sleep;
  now: () => Date;
  signal: AbortSignal;
}

/**
 * The end of an execution that somebody else runs. The wait lasts until its lease ends: then its runner is gone and it counts as interrupted.
 * Rejects with the signal's reason when that fires, and with `idempotency_conflict` when the execution waits for a person.
 */
export async function awaitExecution(execution: Execution, { executions, sleep, now, signal }: Waiting): Promise<Execution> {
  let current = execution;
  for (let delayMs = FIRST_DELAY_MS; !isFinished(current); delayMs = Math.min(delayMs * 1.5, LONGEST_DELAY_MS)) {
    signal.throwIfAborted();
    if (current.leaseExpiresAt === null) throw new AppError('idempotency_conflict', 'This call waits for its approval');
    const isLeaseOver = now().toISOString() > current.leaseExpiresAt;
    if (!isLeaseOver) await sleep(delayMs, signal);
    const found = await (isLeaseOver ? executions.interrupt(current.id, now()) : executions.get(current.id));
    current = found ?? { ...current, status: 'error', errorMessage: INTERRUPTED };
  }
  return current;
}
