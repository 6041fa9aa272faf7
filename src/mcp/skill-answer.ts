import { outcomeOf, parkedOutcome } from '../gateway/call-outcome.ts';
import type { JsonObject } from '../json.ts';
import type { Skill } from '../skills/skill.ts';
import type { SkillCallResult } from './call-skill.ts';

/** What a model at the client reads of a skill's call: the same as a model that the gateway asked would. */
export interface SkillAnswer {
  body: JsonObject;
  text: string;
  failed: boolean;
}

export function answerOf(skill: Skill, result: Exclude<SkillCallResult, { kind: 'asks' }>): SkillAnswer {
  if (result.kind === 'parked') {
    const { body } = parkedOutcome(result.approvalId, result.expiresAt);
    return { body, text: JSON.stringify(body), failed: true };
  }
  const { body, failed } = outcomeOf(result.execution);
  const { instructions } = body;
  const isText = skill.kind === 'instructions' && typeof instructions === 'string';
  return { body, text: isText ? instructions : JSON.stringify(body), failed };
}
