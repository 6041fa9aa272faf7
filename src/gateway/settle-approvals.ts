import { AppError } from '../errors.ts';
import type { Approval, ApprovalStatus } from '../execution/approval.ts';
import { DECLINED } from '../execution/approval-store.ts';
import { isFinished } from '../execution/execution.ts';
import { APPROVAL_EXPIRED } from '../execution/execution-store.ts';
import type { JsonObject } from '../json.ts';
import type { ApprovalAnswer, ApprovalRequest, ExecutionSummary } from '../providers/adapter.ts';
import type { Settings } from '../settings.ts';
import { skillKey } from '../skills/skill.ts';
import { toolName } from '../skills/tool-name.ts';
import { type CallOutcome, failure, outcomeOf, outcomeOfError, parkedOutcome } from './call-outcome.ts';
import type { GatewayDependencies, GatewayRequest } from './exchange.ts';
import { cutText } from './loop-bounds.ts';
import { mapBounded } from './map-bounded.ts';

/** Most approved calls of one request that run at the same time. */
const MAX_PARALLEL_CALLS = 8;

type Dependencies = Pick<GatewayDependencies, 'approvals' | 'executor' | 'findSkill' | 'now' | 'log'>;

/** Decides an approval; one that was decided otherwise comes back as it is when `accepts` its status. Rejects with `not_found` or `conflict`. */
async function decide(
  { approvals, now }: Dependencies,
  decision: { id: string; approve: boolean; apiKeyId: string; accepts(status: ApprovalStatus): boolean },
): Promise<Approval> {
  const { id, approve, apiKeyId, accepts } = decision;
  try {
    return await approvals.decide(id, approve ? 'approved' : 'denied', new Date(now()), apiKeyId);
  } catch (error) {
    const known = error instanceof AppError && error.code === 'conflict' ? await approvals.get(id, apiKeyId) : undefined;
    if (known === undefined || !accepts(known.status)) throw error;
    return known;
  }
}

/** Approves what a request names. A request that is sent again names what has run by then, which is no error. */
export async function approveAll(dependencies: Dependencies, ids: readonly string[], apiKeyId: string): Promise<void> {
  for (const id of ids) await decide(dependencies, { id, approve: true, apiKeyId, accepts: (status) => status === 'used' });
}

/**
 * Decides and runs the calls that wait for a person as the client answers in the format's own way, and gives the provider each of them
 * with its result. `executions` are those that this request let run. Rejects with `not_found` for an approval that the owner has not, and
 * with `conflict` for a denial that comes too late.
 */
export async function settleApprovals(
  dependencies: Dependencies,
  body: JsonObject,
  request: GatewayRequest,
  settings: Settings,
): Promise<{ body: JsonObject; executions: ExecutionSummary[] }> {
  const { executor, findSkill, now, log } = dependencies;
  const { adapter, apiKeyId, headers, location, requestId, stopwatch, waitUntil } = request;
  const executions: ExecutionSummary[] = [];
  const { approvals } = adapter;
  const answers = approvals?.readAnswers(body);
  if (approvals === undefined || answers === undefined || answers.size === 0) return { body, executions };
  const signals = { signal: request.signal, deadline: AbortSignal.timeout(settings.loopTimeoutMs) };

  async function findApproval(id: string, answer: ApprovalAnswer | undefined): Promise<Approval> {
    if (answer) {
      const { approve } = answer;
      // A call that may still run is never taken for a declined one.
      return decide(dependencies, { id, approve, apiKeyId, accepts: (status) => approve || status !== 'approved' });
    }
    const approval = await dependencies.approvals.get(id, apiKeyId);
    if (approval === undefined) throw new AppError('not_found', `No approval with id ${id}`);
    return approval;
  }

  /** Runs an approved call under the claim that it was parked with, which runs once; whoever comes later gets the same result. */
  async function run(approval: Approval): Promise<CallOutcome> {
    const key = skillKey({ name: approval.skillName, version: approval.skillVersion });
    const parked = approval.executionId === null ? undefined : await executor.getExecution(approval.executionId, apiKeyId);
    if (parked === undefined) return failure('The result of this call is not kept any more');
    if (isFinished(parked)) return outcomeOf(parked);
    const skill = approval.skillId === null ? undefined : await findSkill(approval.skillId, apiKeyId, waitUntil);
    if (skill === undefined) return failure(`Not run: skill ${key} is no longer installed`);
    const fault = executor.checkInput(skill, approval.input);
    if (fault !== undefined) return failure(fault);
    const running = executor.execute(skill, approval.input, {
      apiKeyId,
      sessionId: headers.get('x-omniroute-session') ?? approval.sessionId,
      requestId: parked.requestId,
      logId: requestId,
      callId: parked.callId,
      location,
      signal: AbortSignal.any([signals.signal, signals.deadline]),
      approvalId: approval.id,
    });
    // The execution is written to its end even when the client has left by then.
    waitUntil(running.catch(() => {}));
    try {
      return outcomeOf(await running);
    } catch (error) {
      return outcomeOfError(error, { requestId, skill: key }, signals, log);
    }
  }

  async function settle(approval: Approval, answer: ApprovalAnswer | undefined): Promise<CallOutcome> {
    switch (approval.status) {
      case 'approved':
      case 'used':
        return run(approval);
      case 'denied':
        return failure(`Not run: ${DECLINED}${answer?.reason ? `: ${answer.reason}` : ''}`);
      case 'expired':
        return failure(`Not run: ${APPROVAL_EXPIRED}`);
      case 'pending': {
        const isOver = Date.parse(approval.expiresAt) <= now();
        return isOver ? failure(`Not run: ${APPROVAL_EXPIRED}`) : parkedOutcome(approval.id, approval.expiresAt);
      }
    }
  }

  const results = await stopwatch.time('tools', () =>
    mapBounded([...answers], MAX_PARALLEL_CALLS, async ([id, answer]) => {
      const approval = await findApproval(id, answer);
      const outcome = await settle(approval, answer);
      if (outcome.summary && approval.status === 'approved') executions.push(outcome.summary);
      const result: ApprovalRequest & { content: string } = {
        approvalId: id,
        name: await toolName({ name: approval.skillName, version: approval.skillVersion }),
        arguments: approval.input as JsonObject,
        content: cutText(JSON.stringify(outcome.body), settings.maxResultBytes),
      };
      return [id, result] as const;
    }),
  );
  return { body: approvals.settle(body, new Map(results)), executions };
}
