import { AppError } from '../errors.ts';
import { type ApprovalState, DECLINED } from '../execution/approval-store.ts';
import type { Execution } from '../execution/execution.ts';
import { APPROVAL_EXPIRED } from '../execution/execution-store.ts';
import type { ExecuteContext } from '../execution/executor.ts';
import { sleep } from '../execution/sleep.ts';
import type { JsonObject } from '../json.ts';
import type { Services } from '../services.ts';
import { type Skill, skillKey } from '../skills/skill.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { abortWhenEnded } from './cancel-call.ts';
import type { Progress } from './progress.ts';

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 2_000;
/** Of an input, to the person who is to agree to it. */
const MAX_SHOWN_CHARS = 8_000;

/** A question to a person about the call of a `hybrid` skill. */
export interface Question {
  approvalId: string;
  message: string;
}

/**
 * How a person at the client is asked. `repeat`: the client is answered that its input is needed and repeats the call with it, as since
 * revision 2026-07-28; `answered` is what came with the call. `stream`: a request within the call's stream, whose answer comes as a request
 * of its own, to any isolate. `none`: the client cannot ask.
 */
export type Asking =
  | { by: 'none' }
  | { by: 'repeat'; answered: { approvalId: string; accepts: boolean } | undefined }
  | { by: 'stream'; send(question: Question): Promise<void> };

/** One call of a tool, as far as running a skill needs it. */
export interface SkillCall {
  services: Services;
  /** `signal` fires when the client leaves. */
  context: Omit<ExecuteContext, 'sessionId' | 'onClaimed' | 'approvalId'>;
  /** Whether a request of its own may cancel the call. */
  isCancellable: boolean;
  asking: Asking;
  progress: Progress;
  waitUntil: WaitUntil;
}

/** What became of it: `parked` waits for a person to decide elsewhere, `asks` for one at the client. */
export type SkillCallResult =
  | { kind: 'ended'; execution: Execution }
  | { kind: 'parked'; execution: Execution; approvalId: string; expiresAt: string }
  | { kind: 'asks'; question: Question };

function questionFor(skill: Skill, input: JsonObject, approvalId: string): Question {
  const text = JSON.stringify(input, undefined, 2);
  const shown = text.slice(0, MAX_SHOWN_CHARS).toWellFormed();
  const hidden = text.length - shown.length;
  const more = hidden > 0 ? `… (${hidden} more characters)` : '';
  return { approvalId, message: `Run the skill ${skillKey(skill)} with this input?\n\n${shown}${more}` };
}

/**
 * Runs a skill for a client of MCP. One with the policy `hybrid` runs once a person has agreed to this very call: asked at the client when
 * that is possible, else by the REST API or the dashboard. Rejects as the executor does.
 */
export async function callSkill(skill: Skill, input: JsonObject, sessionId: string | null, call: SkillCall): Promise<SkillCallResult> {
  const { services, isCancellable, asking, progress, waitUntil } = call;
  const { executor, executions, approvals, now } = services;
  const context = { ...call.context, sessionId };
  const { apiKeyId, signal } = context;

  async function run(approvalId?: string): Promise<SkillCallResult> {
    const cancelled = new AbortController();
    const over = new AbortController();
    const onClaimed = (executionId: string) => {
      if (isCancellable) void abortWhenEnded(executionId, executions, { signal: over.signal, abort: () => cancelled.abort() });
    };
    const running = executor.execute(skill, input, {
      ...context,
      signal: AbortSignal.any([signal, cancelled.signal]),
      onClaimed,
      ...(approvalId !== undefined && { approvalId }),
    });
    // Its end is recorded even when the client leaves before it.
    waitUntil(running.catch(() => {}));
    try {
      return { kind: 'ended', execution: await progress.during(`Running ${skillKey(skill)}`, () => running) };
    } finally {
      over.abort();
    }
  }

  /** What is left of a call that a person has declined. */
  async function declined({ executionId }: ApprovalState): Promise<SkillCallResult> {
    const execution = executionId === null ? undefined : await executions.get(executionId, apiKeyId);
    if (execution === undefined) throw new AppError('conflict', DECLINED);
    return { kind: 'ended', execution };
  }

  async function settle(approval: ApprovalState): Promise<SkillCallResult> {
    if (approval.status === 'denied') return declined(approval);
    if (approval.status === 'expired' || approval.status === 'pending') throw new AppError('conflict', APPROVAL_EXPIRED);
    return run(approval.id);
  }

  /** The database is where the answer arrives, whichever isolate it comes to. */
  async function awaitDecision({ approvalId }: Question): Promise<ApprovalState> {
    for (let delayMs = FIRST_LOOK_MS; ; delayMs = Math.min(delayMs * 1.25, LONGEST_LOOK_MS)) {
      await sleep(delayMs, signal);
      signal.throwIfAborted();
      const approval = await approvals.stateOf(approvalId, apiKeyId);
      if (approval === undefined) throw new AppError('not_found', `No approval with id ${approvalId}`);
      if (approval.status !== 'pending' || Date.parse(approval.expiresAt) <= now()) return approval;
    }
  }

  async function propose(): Promise<SkillCallResult> {
    const { execution, approvalId, expiresAt } = await executor.park(skill, input, context);
    const question = questionFor(skill, input, approvalId);
    switch (asking.by) {
      case 'none':
        return { kind: 'parked', execution, approvalId, expiresAt };
      case 'repeat':
        return { kind: 'asks', question };
      case 'stream':
        await asking.send(question);
        return settle(await progress.during('Waiting for approval', () => awaitDecision(question)));
    }
  }

  /** Uses up what a person has decided before; an identical call may have been quicker, then this one is decided anew. */
  async function useDecision(decision: ApprovalState): Promise<SkillCallResult> {
    try {
      return await settle(decision);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
      return propose();
    }
  }

  if (skill.policy !== 'hybrid') return run();
  if (asking.by === 'repeat' && asking.answered) {
    const { approvalId, accepts } = asking.answered;
    return settle(await approvals.decide(approvalId, accepts ? 'approved' : 'denied', new Date(now()), apiKeyId));
  }
  const fault = executor.checkInput(skill, input);
  if (fault !== undefined) throw new AppError('invalid_request', fault);
  const decision = await executor.findDecision(skill, input, context);
  return decision ? useDecision(decision) : propose();
}
