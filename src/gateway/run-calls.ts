import { AppError } from '../errors.ts';
import { DECLINED } from '../execution/approval-store.ts';
import type { Decisions, ExecuteContext, Executor } from '../execution/executor.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { ExecutionSummary, ToolCall, ToolResult } from '../providers/adapter.ts';
import { type Skill, skillKey } from '../skills/skill.ts';

/** Most calls of one turn that run at the same time. */
const MAX_PARALLEL_CALLS = 8;

/** `signal` fires when the client leaves, `deadline` when the request's time runs out. */
export interface RunSignals {
  signal: AbortSignal;
  deadline: AbortSignal;
}

export interface CallRunner {
  /** Begins a call before its turn is over, when running it changes nothing; `run` then takes its result. */
  startEarly(call: ToolCall, signals: RunSignals): void;
  /** Runs the calls of a turn; results in call order. A failing call is a result. Rejects only when `signal` has fired: the client left. */
  run(calls: readonly ToolCall[], options: RunSignals & { shorten(content: string): string }): Promise<ToolResult[]>;
  /** What has been run so far, in call order. */
  readonly executions: readonly ExecutionSummary[];
}

export interface CallRunnerOptions {
  executor: Executor & Decisions;
  skillFor(call: ToolCall): Skill | undefined;
  context: Omit<ExecuteContext, 'callId' | 'signal'>;
  log: Logger;
}

/** What became of one call: what the model reads, and how the run is reported. */
interface Outcome {
  body: JsonObject;
  failed: boolean;
  summary?: ExecutionSummary;
}

const failure = (error: string): Outcome => ({ body: { success: false, error }, failed: true });

/** Runs the tasks with at most `limit` under way; results in the order of the items. */
async function mapBounded<Item, Result>(items: readonly Item[], limit: number, run: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const queue = items.entries();
  const worker = async () => {
    for (const [position, item] of queue) results[position] = await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

export function createCallRunner({ executor, skillFor, context, log }: CallRunnerOptions): CallRunner {
  const executions: ExecutionSummary[] = [];
  const usedCallIds = new Map<string, number>();
  const early = new Map<string, Promise<Outcome>>();

  /** Call ids name a claim, and some providers begin them anew in every round. */
  function claimId(callId: string): string {
    const uses = (usedCallIds.get(callId) ?? 0) + 1;
    usedCallIds.set(callId, uses);
    return uses === 1 ? callId : `${callId}#${uses}`;
  }

  /** A call of a hybrid skill runs once a person has approved this very call; until then it is parked. */
  async function propose(skill: Skill, input: JsonObject, executeContext: ExecuteContext): Promise<Outcome> {
    const decision = await executor.findDecision(skill, input, executeContext);
    if (decision?.status === 'denied') return failure(`Not run: ${DECLINED}`);
    return decision ? execute(skill, input, { ...executeContext, approvalId: decision.id }) : park(skill, input, executeContext);
  }

  async function park(skill: Skill, input: JsonObject, execute: ExecuteContext): Promise<Outcome> {
    const { execution, approvalId, expiresAt } = await executor.park(skill, input, execute);
    const error = `The call was NOT run: it needs the user's approval (approval id ${approvalId}, until ${expiresAt}). Tell the user, and do not assume any result.`;
    return {
      body: { success: false, error, approvalRequired: true, approvalId },
      failed: false,
      summary: { id: execution.id, skill: skillKey(skill), status: execution.status, durationMs: execution.durationMs },
    };
  }

  async function execute(skill: Skill, input: JsonObject, executeContext: ExecuteContext): Promise<Outcome> {
    const execution = await executor.execute(skill, input, executeContext);
    const failed = execution.status !== 'success';
    const output = execution.output as JsonObject | null;
    return {
      body: failed ? { success: false, error: execution.errorMessage ?? execution.status, ...(output && { output }) } : (output ?? {}),
      failed,
      summary: { id: execution.id, skill: skillKey(skill), status: execution.status, durationMs: execution.durationMs },
    };
  }

  async function runCall(call: ToolCall, callId: string, { signal, deadline }: RunSignals): Promise<Outcome> {
    const skill = skillFor(call);
    if (skill === undefined) return failure(`No such tool: ${call.name}`);
    if (!call.arguments.readable) return failure(call.arguments.error);
    const input = call.arguments.value;
    const fault = executor.checkInput(skill, input);
    if (fault !== undefined) return failure(fault);
    const executeContext = { ...context, callId, signal: AbortSignal.any([signal, deadline]) };
    try {
      return await (skill.policy === 'hybrid' ? propose(skill, input, executeContext) : execute(skill, input, executeContext));
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return failure('Not finished: the time for this request ran out');
      if (error instanceof AppError) return failure(error.message);
      log.error('skills.interception.execution_failed', { skill: skillKey(skill), error: error instanceof Error ? error.name : 'unknown' });
      return failure('The skill failed unexpectedly');
    }
  }

  return {
    executions,
    startEarly(call, signals) {
      const skill = skillFor(call);
      const mayStart = skill?.policy === 'auto' && call.arguments.readable && executor.isReadOnly(skill, call.arguments.value);
      if (!mayStart || early.has(call.id) || early.size >= MAX_PARALLEL_CALLS) return;
      const outcome = runCall(call, claimId(call.id), signals);
      // Nobody may come to take it: then a client has left, or the reply broke off.
      outcome.catch(() => {});
      early.set(call.id, outcome);
    },
    async run(calls, { shorten, ...signals }) {
      const started = new Map(early);
      early.clear();
      const claimed = calls.map((call) => {
        const begun = started.get(call.id);
        started.delete(call.id);
        return { call, begun, callId: begun ? call.id : claimId(call.id) };
      });
      const outcomes = await mapBounded(claimed, MAX_PARALLEL_CALLS, ({ call, begun, callId }) => begun ?? runCall(call, callId, signals));
      return outcomes.map(({ body, failed, summary }, position): ToolResult => {
        const { id, name } = calls[position] as ToolCall;
        if (summary) executions.push(summary);
        log.info(failed ? 'skills.interception.execution_failed' : 'skills.interception.execution_complete', {
          tool: name,
          ...(summary && { executionId: summary.id, status: summary.status, durationMs: summary.durationMs }),
        });
        return { callId: id, name, content: shorten(JSON.stringify(body)), failed };
      });
    },
  };
}
