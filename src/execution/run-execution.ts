import type { Logger } from '../logger.ts';
import type { SandboxRunOptions } from '../skills/define.ts';
import { type Skill, skillKey } from '../skills/skill.ts';
import { describeUnexpected } from './describe-unexpected.ts';
import type { Execution } from './execution.ts';
import { type ExecutionStore, INTERRUPTED, type Outcome } from './execution-store.ts';
import { type AttemptResult, cancelReason, runAttempt } from './run-attempt.ts';
import type { Sleep } from './sleep.ts';

/** A run holds its claim by renewing its lease; a row whose isolate died is found out this long after the last renewal. */
const LEASE_MS = 15_000;
const LEASE_RENEWAL_MS = 5_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
/** No attempt begins later than this after the first. */
const RETRY_WINDOW_MS = 120_000;
const WRITE_TRIES = 4;
const FIRST_WRITE_BACKOFF_MS = 200;

export interface RunDependencies {
  executions: Pick<ExecutionStore, 'start' | 'finish'>;
  now: () => Date;
  /** In [0, 1), as `Math.random`. */
  random: () => number;
  sleep: Sleep;
  log: Logger;
}

export type OnHost = NonNullable<SandboxRunOptions['onHost']>;

export interface Run {
  skill: Skill;
  /** `onHost` as in `SandboxRunOptions`. */
  run(signal: AbortSignal, onHost: OnHost): Promise<unknown>;
  timeoutMs: number;
  maxRetries: number;
  clientSignal: AbortSignal;
  /** The request's id in the log. */
  logId: string | undefined;
}

/** What every line of the log says of a run. */
type RunFacts = {
  requestId: string | undefined;
  executionId: string;
  skill: string;
};

export const leaseEnd = (now: Date): Date => new Date(now.getTime() + LEASE_MS);

/** Exponential, with half of it left to chance, so that callers that failed together do not come back together. */
export const backoffMs = (attempt: number, random: () => number): number =>
  Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS) * (0.5 + random() / 2);

/**
 * A repeat is safe when the skill says so, or when nothing has run. A deadline or a client that left is final, and so is an error that a
 * skill gives on purpose, since it would only be given again, unless the error says that it may pass.
 */
const mayRetry = (result: AttemptResult, skill: Skill): boolean =>
  result.status === 'error' &&
  (result.failure === 'before-run' || (skill.idempotent && (result.failure === 'unexpected' || result.failure === 'transient')));

/** Runs a claimed execution, attempt by attempt, and writes its end. The execution as it ended; never rejects. */
export async function runExecution(execution: Execution, run: Run, dependencies: RunDependencies): Promise<Execution> {
  const { executions, now, random, sleep, log } = dependencies;
  const { skill, timeoutMs, maxRetries, clientSignal, logId: requestId } = run;
  const about: RunFacts = { requestId, executionId: execution.id, skill: skillKey(skill) };
  const begun = now();
  const startedAt = begun.toISOString();
  let sandboxId: string | null = null;
  const onHost = (host: string | null) => {
    sandboxId = host;
  };
  log.info('skills.executor.start', about);

  /** A database that fails does not stop a run that holds its claim. */
  const start = (attempts: number): Promise<boolean> =>
    executions.start(execution.id, { attempts, startedAt, sandboxId, leaseExpiresAt: leaseEnd(now()).toISOString() }).catch((error) => {
      log.error('skills.executor.write_failed', { ...about, error });
      return true;
    });
  const onUnexpected = (error: unknown) => log.error('skills.executor.unexpected', { ...about, ...describeUnexpected(error) });

  const attempt = () => runAttempt((signal) => run.run(signal, onHost), { timeoutMs, clientSignal, onUnexpected });

  let attempts = 1;
  // The claim has just been made, so the first attempt need not wait for this write.
  const firstStart = start(attempts);
  const renewal = setInterval(() => void start(attempts), LEASE_RENEWAL_MS);
  let result = await attempt();
  while (mayRetry(result, skill) && attempts <= maxRetries) {
    const delayMs = backoffMs(attempts, random);
    if (now().getTime() + delayMs - begun.getTime() > RETRY_WINDOW_MS) break;
    await Promise.all([firstStart, sleep(delayMs, clientSignal)]);
    if (clientSignal.aborted) {
      result = { status: 'error', errorMessage: cancelReason(clientSignal), failure: 'cancelled' };
    } else if (await start(attempts + 1)) {
      attempts += 1;
      result = await attempt();
    } else {
      result = { status: 'error', errorMessage: INTERRUPTED, failure: 'cancelled' };
    }
  }

  clearInterval(renewal);
  const ended = now();
  const outcome: Outcome = {
    status: result.status,
    output: result.status === 'success' ? result.output : null,
    errorMessage: result.status === 'success' ? null : result.errorMessage,
    durationMs: Math.max(0, ended.getTime() - begun.getTime()),
    attempts,
    sandboxId,
    startedAt,
    finishedAt: ended.toISOString(),
  };
  await Promise.all([firstStart, writeOutcome(outcome, about, dependencies)]);
  log.info('skills.executor.complete', { ...about, status: outcome.status, durationMs: outcome.durationMs, attempts });
  return { ...execution, ...outcome };
}

/** The caller gets its result even when the database is down; the row is then ended by the recovery of leases. */
async function writeOutcome(outcome: Outcome, about: RunFacts, { executions, sleep, log }: RunDependencies): Promise<void> {
  const { signal: never } = new AbortController();
  for (let tries = 1; ; tries += 1) {
    try {
      const isWritten = await executions.finish(about.executionId, outcome);
      if (!isWritten) log.warn('skills.executor.lease_lost', { ...about, status: outcome.status });
      return;
    } catch (error) {
      log.error('skills.executor.write_failed', { ...about, tries, error });
      if (tries === WRITE_TRIES) return;
      await sleep(FIRST_WRITE_BACKOFF_MS * 2 ** (tries - 1), never);
    }
  }
}
