import type { JsonObject, JsonValue } from '../../src/json.ts';
import { type BuiltinSkill, type SkillContext, SkillError } from '../../src/skills/define.ts';

/** Parses the input and runs the skill. Rejects with a SkillError for a fault in the input as well. */
export async function callSkill(skill: BuiltinSkill, input: JsonValue, context: SkillContext): Promise<JsonObject> {
  const parsed = skill.parse(input);
  if (!parsed.success) throw new SkillError(parsed.error);
  return skill.execute(parsed.data, context);
}
