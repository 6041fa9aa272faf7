import type { AgentSkillCoverage } from '../../src/agent-skills/agent-skill.ts';

/** Names of all that there is to describe. */
export type Describable = Record<keyof AgentSkillCoverage, readonly string[]>;

/** What the texts name as code, or in a heading of its own, is described. */
function measure(names: readonly string[], texts: readonly string[]): AgentSkillCoverage['operations'] {
  const isNamed = (name: string): boolean => texts.some((text) => text.includes(`\`${name}\``) || text.includes(`\n### ${name}\n`));
  const missing = names.filter((name) => !isNamed(name));
  return { total: names.length, covered: names.length - missing.length, missing };
}

/** How much of the product is described by any of the texts. */
export const measureCoverage = ({ operations, tools, commands }: Describable, texts: readonly string[]): AgentSkillCoverage => ({
  operations: measure(operations, texts),
  tools: measure(tools, texts),
  commands: measure(commands, texts),
});
