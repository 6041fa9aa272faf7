import { AppError } from '../errors.ts';
import type { Handler } from '../handlers/define-handler.ts';
import { canonicalJson, type JsonValue } from '../json.ts';
import { type SkillContext, SkillError } from '../skills/define.ts';
import { type Skill, skillKey } from '../skills/skill.ts';
import { APPROVAL_TTL_MS } from './approval.ts';
import type { ApprovalStore } from './approval-store.ts';
import { awaitExecution } from './await-execution.ts';
import { describeUnexpected } from './describe-unexpected.ts';
import { digestInput } from './digest-input.ts';
import type { Execution } from './execution.ts';
import type { ExecutionStore } from './execution-store.ts';
import type { Decisions, ExecuteContext, Executor } from './executor.ts';
import { newExecution } from './new-execution.ts';
import { cancelReason, FAILED_UNEXPECTEDLY } from './run-attempt.ts';
import { leaseEnd, type OnHost, type Run, type RunDependencies, runExecution } from './run-execution.ts';
import type { Runnable } from './runnable.ts';
import { scrubFault, scrubMessage } from './scrub-message.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest that a timer takes; it fires at once for more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const DEFAULT_MAX_RETRIES = 3;
/** Largest input that is kept, in characters of JSON text. */
const MAX_INPUT_CHARS = 4 * 1024 * 1024;

export interface ExecutorDependencies extends RunDependencies {
  executions: ExecutionStore;
  approvals: Pick<ApprovalStore, 'findDecision'>;
  runnableFor: (skill: Skill) => Runnable;
  /** `onHost` is for the context's sandbox. */
  contextFor: (execution: Execution, signal: AbortSignal, context: ExecuteContext, onHost: OnHost) => SkillContext;
  newId: () => string;
  /** The functions that skills of kind `handler` name, where `runnableFor` looks them up. */
  handlers: Map<string, Handler>;
}

export interface SkillExecutor extends Executor, Decisions {
  /** Makes a function known under the name that a skill's `handlerCode` may give; one of the same name is replaced. */
  registerHandler(name: string, run: Handler['run']): void;
  /** The timeout of an attempt of a skill that has none of its own; 30,000 ms at first. Throws a RangeError unless positive. */
  setTimeout(ms: number): void;
  /** The attempts after the first for a skill that says nothing about it; 3 at first. Throws a RangeError when negative. */
  setMaxRetries(count: number): void;
  /** With an owner, only an execution of that owner. */
  getExecution(id: string, apiKeyId?: string): Promise<Execution | undefined>;
  /** Newest first; of all owners when the owner is undefined. */
  listExecutions(apiKeyId: string | undefined, limit: number, offset: number): Promise<Execution[]>;
  countExecutions(apiKeyId?: string): Promise<number>;
}

type Prepared = { success: true; data: unknown; runnable: Runnable } | { success: false; error: string; isTooLarge: boolean };

const ownedBy = (apiKeyId: string | undefined) => (apiKeyId === undefined ? {} : { apiKeyId });

export function createExecutor(dependencies: ExecutorDependencies): SkillExecutor {
  const { executions, approvals, runnableFor, contextFor, handlers, now, newId, sleep, log } = dependencies;
  let defaultTimeoutMs = DEFAULT_TIMEOUT_MS;
  let defaultMaxRetries = DEFAULT_MAX_RETRIES;

  /** Never throws: a skill that cannot even be set up fails like one that cannot run. */
  function prepare(skill: Skill, input: JsonValue): Prepared {
    if (canonicalJson(input).length > MAX_INPUT_CHARS)
      return { success: false, error: `The input exceeds the ${MAX_INPUT_CHARS} character limit`, isTooLarge: true };
    try {
      const runnable = runnableFor(skill);
      const parsed = runnable.parse(input);
      return parsed.success ? { ...parsed, runnable } : { success: false, error: scrubFault(parsed.error), isTooLarge: false };
    } catch (error) {
      if (error instanceof SkillError) return { success: false, error: scrubMessage(error.message), isTooLarge: false };
      log.error('skills.executor.unexpected', { skill: skillKey(skill), ...describeUnexpected(error) });
      return { success: false, error: FAILED_UNEXPECTEDLY, isTooLarge: false };
    }
  }

  function requireAllowed(skill: Skill, { customSkillExecutionEnabled }: ExecuteContext): void {
    if (customSkillExecutionEnabled === false && skill.kind !== 'builtin')
      throw new AppError('skill_off', `Skill ${skillKey(skill)} is off for this request: only built-in skills may run`);
  }

  return {
    async execute(skill, input, context) {
      requireAllowed(skill, context);
      const prepared = prepare(skill, input);
      const timeoutMs = Math.min(skill.timeoutMs ?? defaultTimeoutMs, MAX_TIMEOUT_MS);
      const maxRetries = skill.maxRetries ?? defaultMaxRetries;
      const { signal } = context;
      const refusal = prepared.success ? (signal.aborted ? cancelReason(signal) : undefined) : prepared.error;
      const createdAt = now();
      const leaseExpiresAt = refusal === undefined ? leaseEnd(createdAt) : null;
      const kept = !prepared.success && prepared.isTooLarge ? null : input;
      const row = newExecution(skill, kept, context, { id: newId(), createdAt, leaseExpiresAt, refusal });
      const approval =
        refusal === undefined && context.approvalId !== undefined
          ? { id: context.approvalId, inputSha256: await digestInput(input) }
          : undefined;
      const { execution, repeated } = await executions.claim(row, approval);
      if (repeated) return awaitExecution(execution, { executions, sleep, now, signal });
      context.onClaimed?.(execution.id);
      if (!prepared.success || refusal !== undefined) return execution;
      const { runnable, data } = prepared;
      const run: Run['run'] = (attemptSignal, onHost) => runnable.run(data, contextFor(execution, attemptSignal, context, onHost));
      return runExecution(execution, { skill, run, timeoutMs, maxRetries, clientSignal: signal, logId: context.logId }, dependencies);
    },

    async park(skill, input, context) {
      requireAllowed(skill, context);
      const prepared = prepare(skill, input);
      if (!prepared.success) throw new AppError('invalid_request', prepared.error);
      const createdAt = now();
      const row = newExecution(skill, input, context, { id: newId(), createdAt, leaseExpiresAt: null });
      const approval = {
        id: newId(),
        apiKeyId: context.apiKeyId,
        skillId: skill.id,
        skillName: skill.name,
        skillVersion: skill.version,
        input,
        inputSha256: await digestInput(input),
        sessionId: context.sessionId,
        status: 'pending' as const,
        createdAt: row.createdAt,
        expiresAt: new Date(createdAt.getTime() + APPROVAL_TTL_MS).toISOString(),
        executionId: row.id,
      };
      return executions.park(row, approval);
    },

    checkInput(skill, input) {
      const prepared = prepare(skill, input);
      return prepared.success ? undefined : prepared.error;
    },

    isReadOnly(skill, input) {
      const prepared = prepare(skill, input);
      return prepared.success && prepared.runnable.isReadOnly(prepared.data);
    },

    sequenceKey(skill, input) {
      const prepared = prepare(skill, input);
      return prepared.success ? prepared.runnable.sequenceKey?.(prepared.data) : undefined;
    },

    async findDecision(skill, input, { apiKeyId, requestId, callId }) {
      const inputSha256 = await digestInput(input);
      return approvals.findDecision({ apiKeyId, skillId: skill.id, inputSha256, requestId, callId }, now());
    },

    registerHandler: (name, run) => void handlers.set(name, { name, run }),
    setTimeout(ms) {
      if (!(Number.isSafeInteger(ms) && ms > 0)) throw new RangeError('The timeout must be a whole number of milliseconds above 0');
      defaultTimeoutMs = ms;
    },
    setMaxRetries(count) {
      if (!(Number.isSafeInteger(count) && count >= 0)) throw new RangeError('The number of retries must be a whole number, 0 or more');
      defaultMaxRetries = count;
    },
    getExecution: (id, apiKeyId) => executions.get(id, apiKeyId),
    listExecutions: (apiKeyId, limit, offset) => executions.list(ownedBy(apiKeyId), limit, offset),
    countExecutions: (apiKeyId) => executions.count(ownedBy(apiKeyId)),
  };
}
