import { AppError } from '../errors.ts';
import { DECLINED } from '../execution/approval-store.ts';
import type { Decisions, ExecuteContext, Executor } from '../execution/executor.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { ApprovalRequest, ExecutionSummary, ToolCall, ToolResult } from '../providers/adapter.ts';
import { type Skill, skillKey } from '../skills/skill.ts';
import { type CallOutcome, failure, outcomeOf, outcomeOfError, parkedOutcome, type RunSignals, summarize } from './call-outcome.ts';
import { mapBounded } from './map-bounded.ts';

/** Most calls of one turn that run at the same time. */
const MAX_PARALLEL_CALLS = 8;

export interface CallRunner {
  /** Begins a call before its turn is over, when running it changes nothing; `run` then takes its result. */
  startEarly(call: ToolCall, signals: RunSignals): void;
  /** Runs the calls of a turn; results in call order. A failing call is a result. Rejects only when `signal` has fired: the client left. */
  run(calls: readonly ToolCall[], options: RunSignals & { shorten(content: string): string }): Promise<ToolResult[]>;
  /** What has been run so far, in call order. */
  readonly executions: readonly ExecutionSummary[];
  /** The calls among them that wait for a person. */
  readonly approvalRequests: readonly ApprovalRequest[];
}

export interface CallRunnerOptions {
  executor: Executor & Decisions;
  skillFor(call: ToolCall): Skill | undefined;
  context: Omit<ExecuteContext, 'callId' | 'signal'>;
  /** Of the gateway, for the log; the context's may be a client's idempotency key. */
  requestId: string;
  log: Logger;
}

export function createCallRunner({ executor, skillFor, context, requestId, log }: CallRunnerOptions): CallRunner {
  const executions: ExecutionSummary[] = [];
  const approvalRequests = new Map<string, ApprovalRequest>();
  const usedCallIds = new Map<string, number>();
  const early = new Map<string, Promise<CallOutcome>>();
  /** Keys of calls of the present turn that will run when it is over. */
  const waiting = new Set<string>();

  /** Call ids name a claim, and some providers begin them anew in every round. */
  function claimId(callId: string): string {
    const uses = (usedCallIds.get(callId) ?? 0) + 1;
    usedCallIds.set(callId, uses);
    return uses === 1 ? callId : `${callId}#${uses}`;
  }

  /** A call of a hybrid skill runs once a person has approved this very call; until then it is parked. */
  async function propose(skill: Skill, name: string, input: JsonObject, executeContext: ExecuteContext): Promise<CallOutcome> {
    const decision = await executor.findDecision(skill, input, executeContext);
    if (decision?.status === 'denied') return failure(`Not run: ${DECLINED}`);
    if (decision) {
      try {
        return outcomeOf(await executor.execute(skill, input, { ...executeContext, approvalId: decision.id }));
      } catch (error) {
        // An identical call was quicker to use the approval up, so this one needs another.
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
      }
    }
    const { execution, approvalId, expiresAt } = await executor.park(skill, input, executeContext);
    approvalRequests.set(approvalId, { approvalId, name, arguments: input });
    return { ...parkedOutcome(approvalId, expiresAt), summary: summarize(execution) };
  }

  async function runCall(call: ToolCall, callId: string, signals: RunSignals): Promise<CallOutcome> {
    const skill = skillFor(call);
    if (skill === undefined) return failure(`No such tool: ${call.name}`);
    if (!call.arguments.readable) return failure(call.arguments.error);
    const input = call.arguments.value;
    const fault = executor.checkInput(skill, input);
    if (fault !== undefined) return failure(fault);
    const executeContext = { ...context, logId: requestId, callId, signal: AbortSignal.any([signals.signal, signals.deadline]) };
    try {
      if (skill.policy === 'hybrid') return await propose(skill, call.name, input, executeContext);
      return outcomeOf(await executor.execute(skill, input, executeContext));
    } catch (error) {
      return outcomeOfError(error, { requestId, skill: skillKey(skill) }, signals, log);
    }
  }

  function sequenceKey(call: ToolCall): string | undefined {
    const skill = skillFor(call);
    return skill && call.arguments.readable ? executor.sequenceKey(skill, call.arguments.value) : undefined;
  }

  /** Runs calls at the same time, but those with the same key one after the other. */
  function inSequence(): (call: ToolCall, callId: string, signals: RunSignals) => Promise<CallOutcome> {
    const last = new Map<string, Promise<unknown>>();
    return (call, callId, signals) => {
      const key = sequenceKey(call);
      if (key === undefined) return runCall(call, callId, signals);
      const outcome = (last.get(key) ?? Promise.resolve()).then(() => runCall(call, callId, signals));
      last.set(
        key,
        outcome.catch(() => {}),
      );
      return outcome;
    };
  }

  return {
    executions,
    get approvalRequests() {
      return [...approvalRequests.values()];
    },
    startEarly(call, signals) {
      const skill = skillFor(call);
      const mayStart = skill?.policy === 'auto' && call.arguments.readable && executor.isReadOnly(skill, call.arguments.value);
      const key = sequenceKey(call);
      const isBehindAnother = key !== undefined && waiting.has(key);
      if (!mayStart || isBehindAnother || early.has(call.id) || early.size >= MAX_PARALLEL_CALLS) {
        if (key !== undefined) waiting.add(key);
        return;
      }
      const outcome = runCall(call, claimId(call.id), signals);
      // Nobody may come to take it: then a client has left, or the reply broke off.
      outcome.catch(() => {});
      early.set(call.id, outcome);
    },
    async run(calls, { shorten, ...signals }) {
      const started = new Map(early);
      early.clear();
      waiting.clear();
      const runNext = inSequence();
      const claimed = calls.map((call) => {
        const begun = started.get(call.id);
        started.delete(call.id);
        return { call, begun, callId: begun ? call.id : claimId(call.id) };
      });
      const outcomes = await mapBounded(claimed, MAX_PARALLEL_CALLS, ({ call, begun, callId }) => begun ?? runNext(call, callId, signals));
      return outcomes.map(({ body, failed, summary }, position): ToolResult => {
        const { id, name } = calls[position] as ToolCall;
        if (summary) executions.push(summary);
        log.info(failed ? 'skills.interception.execution_failed' : 'skills.interception.execution_complete', {
          requestId,
          tool: name,
          ...(summary && { executionId: summary.id, status: summary.status, durationMs: summary.durationMs }),
        });
        return { callId: id, name, content: shorten(JSON.stringify(body)), failed };
      });
    },
  };
}
