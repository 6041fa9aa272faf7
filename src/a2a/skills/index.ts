import { type A2ASkillRegistry, createA2ASkillRegistry } from '../a2a-skill.ts';
import { registerA2ASkill as registerListCapabilities } from './list-capabilities.ts';
import { registerA2ASkill as registerMemoryAwareRouting } from './memory-aware-routing.ts';

/** The agent's own skills. A file of this folder exports `registerA2ASkill`, which is called here. */
export function registerA2ASkills(): A2ASkillRegistry {
  const registry = createA2ASkillRegistry();
  registerMemoryAwareRouting(registry);
  registerListCapabilities(registry);
  return registry;
}
