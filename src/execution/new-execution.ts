import type { JsonValue } from '../json.ts';
import type { Skill } from '../skills/skill.ts';
import type { NewExecution } from './execution-store.ts';
import type { ExecuteContext } from './executor.ts';

interface Start {
  id: string;
  createdAt: Date;
  /** Null for a call that is not about to run: one that waits for its approval, or that was refused. */
  leaseExpiresAt: Date | null;
  /** Why the call is not run at all. */
  refusal?: string | undefined;
}

/** The row of a call: `pending`, or ended at once when it is refused. */
export function newExecution(skill: Skill, input: JsonValue, context: ExecuteContext, start: Start): NewExecution {
  const createdAt = start.createdAt.toISOString();
  const isRefused = start.refusal !== undefined;
  return {
    id: start.id,
    skillId: skill.id,
    skillName: skill.name,
    skillVersion: skill.version,
    apiKeyId: context.apiKeyId,
    sessionId: context.sessionId,
    requestId: context.requestId,
    callId: context.callId,
    input,
    output: null,
    status: isRefused ? 'error' : 'pending',
    errorMessage: start.refusal ?? null,
    durationMs: isRefused ? 0 : null,
    attempts: 0,
    sandboxId: null,
    createdAt,
    startedAt: null,
    finishedAt: isRefused ? createdAt : null,
    leaseExpiresAt: start.leaseExpiresAt?.toISOString() ?? null,
  };
}
