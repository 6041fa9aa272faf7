import { AppError } from '../errors.ts';
import type { Services } from '../services.ts';
import type { Skill } from '../skills/skill.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { isManagement, ownerOf, type Principal } from './principal.ts';

/**
 * The skill that is asked for by id, name, `name@version` or `name@` and a constraint. A key finds what it sees; the management finds every
 * skill by its id, too. Throws `skill_not_found`.
 */
export async function findSkill(
  { registry, skills }: Pick<Services, 'registry' | 'skills'>,
  principal: Principal,
  reference: string,
  waitUntil: WaitUntil,
): Promise<Skill> {
  const visible = await registry.find(reference, ownerOf(principal), waitUntil);
  const skill = visible ?? (isManagement(principal) ? await skills.get(reference) : undefined);
  if (skill === undefined) throw new AppError('skill_not_found', `No skill ${reference}`);
  return skill;
}
