import type { AgentSkillCoverage, AgentSkillFilter, AgentSkillList, AgentSkillText } from './agent-skill.ts';

/** The texts as `npm run skills:generate` has written them. */
export interface GeneratedAgentSkills {
  AGENT_SKILLS: readonly AgentSkillText[];
  AGENT_SKILL_COVERAGE: AgentSkillCoverage;
}

/** What REST, MCP and A2A show of the texts under `skills/`. */
export interface AgentSkillCatalogue {
  /** Those of a category and an area, sorted by id, without their Markdown. The coverage is that of all. */
  list(filter?: AgentSkillFilter): Promise<AgentSkillList>;
  get(id: string): Promise<AgentSkillText | undefined>;
  coverage(): Promise<AgentSkillCoverage>;
}

/** `load` imports the module of the texts, which few requests need and no start should wait for. */
export function createAgentSkillCatalogue(load: () => Promise<GeneratedAgentSkills>): AgentSkillCatalogue {
  return {
    async list({ category, area } = {}) {
      const { AGENT_SKILLS, AGENT_SKILL_COVERAGE } = await load();
      const skills = AGENT_SKILLS.filter(
        (skill) => (category === undefined || skill.category === category) && (area === undefined || skill.area === area),
      ).map(({ markdown: _, ...skill }) => skill);
      return { skills, count: skills.length, coverage: AGENT_SKILL_COVERAGE };
    },
    async get(id) {
      return (await load()).AGENT_SKILLS.find((skill) => skill.id === id);
    },
    async coverage() {
      return (await load()).AGENT_SKILL_COVERAGE;
    },
  };
}
