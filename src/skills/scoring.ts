import type { ScoringContext, ScoringIndex } from './scoring-index.ts';
import type { Skill } from './skill.ts';

export interface AutoLimits {
  /** At least 1: a skill that nothing speaks for is never offered. */
  minScore: number;
  maxSkills: number;
}

/** The skills to offer, best first; ties go to the one installed more often, then to the name that sorts first. */
export const selectAutoSkills = (index: ScoringIndex, context: ScoringContext, { minScore, maxSkills }: AutoLimits): Skill[] =>
  index.best(context, Math.max(1, minScore), maxSkills).map(({ skill }) => skill);
