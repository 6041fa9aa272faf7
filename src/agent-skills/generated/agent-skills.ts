import type { AgentSkillCoverage, AgentSkillText } from '../agent-skill.ts';

export const AGENT_SKILLS: readonly AgentSkillText[] = [];
export const AGENT_SKILL_COVERAGE: AgentSkillCoverage = {
  operations: { total: 0, covered: 0, missing: [] },
  tools: { total: 0, covered: 0, missing: [] },
  commands: { total: 0, covered: 0, missing: [] },
};
