import type { JsonValue } from '../json.ts';
import type { OnOutput } from '../skills/define.ts';
import type { Skill } from '../skills/skill.ts';
import type { Approval } from './approval.ts';
import type { Execution } from './execution.ts';

/** Who asks for a run, and under which claim. */
export interface ExecuteContext {
  apiKeyId: string;
  sessionId: string | null;
  /** `Idempotency-Key`, else the id of the request; with `callId` it claims the execution, so that a repeat never runs twice. */
  requestId: string;
  callId: string;
  /** The gateway's id of the request, under which the log tells of the run: `requestId` may be a client's key. */
  logId?: string;
  /** Fires when the client leaves. */
  signal: AbortSignal;
  /** Called with the execution's id once the call is claimed: from then on it is told by its execution, however it ends. */
  onClaimed?: (executionId: string) => void;
  /** Is told what the skill prints while it runs, if it does; an attempt that is repeated prints again. */
  onOutput?: OnOutput;
  /** False leaves only the built-in skills. */
  customSkillExecutionEnabled?: boolean;
  /** Where the request came in, as in Cloudflare's `request.cf`: a sandbox near to it is tried first. */
  location?: { colo?: string | undefined; continent?: string | undefined };
  /** An approved approval of this very call: it is used up, and the execution that it parked is the one that runs. */
  approvalId?: string;
}

/** The parked call of a `hybrid` skill: its row stays `pending` until a person decides. */
export interface ParkedCall {
  execution: Execution;
  approvalId: string;
  expiresAt: string;
}

export interface Executor {
  /**
   * Runs a skill and records it. A skill that fails is a value: an execution with status `error` or `timeout`.
   * Rejects with an AppError only when nothing was run: `skill_not_found`, `skill_off`, `skills_disabled`, `idempotency_conflict`,
   * `database_unavailable`, or `conflict` when `approvalId` is not approved, is used up or belongs to another call. A repeat of a claim gets the stored result, after
   * waiting for it if need be; when its client leaves meanwhile it rejects with the signal's reason.
   */
  execute(skill: Skill, input: JsonValue, context: ExecuteContext): Promise<Execution>;
  /**
   * Records a call of a `hybrid` skill without running it. While an identical call of the same owner waits for its approval, that one is
   * returned. Rejects as `execute` does.
   */
  park(skill: Skill, input: JsonValue, context: ExecuteContext): Promise<ParkedCall>;
  /** The message of the first fault that names its path, or undefined when the input fits the skill. */
  checkInput(skill: Skill, input: JsonValue): string | undefined;
  /** Whether the input fits the skill and a run with it changes nothing anywhere. */
  isReadOnly(skill: Skill, input: JsonValue): boolean;
  /** Calls of one turn with the same key have to run one after the other, in their order. */
  sequenceKey(skill: Skill, input: JsonValue): string | undefined;
}

/** What people have decided about calls of `hybrid` skills. */
export interface Decisions {
  /**
   * What a person has said about this call of a `hybrid` skill, so that the caller knows what to do with it: `approved` (execute it with
   * `approvalId`), `used` (this very claim ran already: the same, which gives the stored result), `denied`, or undefined (park it).
   * Rejects with `database_unavailable`.
   */
  findDecision(skill: Skill, input: JsonValue, context: ExecuteContext): Promise<Approval | undefined>;
}
