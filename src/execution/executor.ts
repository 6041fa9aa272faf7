import type { JsonValue } from '../json.ts';
import type { Skill } from '../skills/skill.ts';
import type { Execution } from './execution.ts';

/** Who asks for a run, and under which claim. */
export interface ExecuteContext {
  apiKeyId: string;
  sessionId: string | null;
  /** `Idempotency-Key`, else the id of the request; with `callId` it claims the execution, so that a repeat never runs twice. */
  requestId: string;
  callId: string;
  /** Fires when the client leaves. */
  signal: AbortSignal;
  /** False leaves only the built-in skills. */
  customSkillExecutionEnabled?: boolean;
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
   * Rejects with an AppError only when nothing was run: `skill_off`, `skills_disabled`, `idempotency_conflict`, `database_unavailable`.
   */
  execute(skill: Skill, input: JsonValue, context: ExecuteContext): Promise<Execution>;
  /** Records a call of a `hybrid` skill without running it. Rejects as `execute` does. */
  park(skill: Skill, input: JsonValue, context: ExecuteContext): Promise<ParkedCall>;
  /** The message of the first fault that names its path, or undefined when the input fits the skill. */
  checkInput(skill: Skill, input: JsonValue): string | undefined;
}
