import * as z from 'zod';
import { isManagement, ownerOf, type Principal } from '../api/principal.ts';
import { idText, plainText } from '../api/schemas.ts';
import { skillBody } from '../api/skill-body.ts';
import { AppError } from '../errors.ts';
import { SKILL_MODES, type Skill } from '../skills/skill.ts';
import { defineTool } from './tool.ts';

/** Skills that one call answers. */
const MAX_LISTED = 200;

/** A skill as a caller that wants to run it needs it: not what runs it. */
const listedSkill = z.strictObject(skillBody.shape).omit({ handler: true, contentSha256: true });

function toListed({ handler: _, contentSha256: __, ...skill }: Skill): z.infer<typeof listedSkill> {
  return skill;
}

function requireOwner(principal: Principal, apiKeyId: string): void {
  if (apiKeyId !== ownerOf(principal) && !isManagement(principal)) throw new AppError('forbidden', 'An API key acts for itself only');
}

export const listSkills = defineTool({
  name: 'omniroute_skills_list',
  title: 'List skills',
  description:
    'Lists the skills that an API key sees, its own and those of the system, with the schemas of their inputs. Use it to find what omniroute_skills_execute can run.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  scope: 'read:skills',
  input: z.strictObject({
    apiKeyId: idText
      .optional()
      .meta({ description: 'Whose skills; those of the own key when left out. Only the management may name another.' }),
    name: plainText(100).min(1).optional().meta({ description: 'Part of the name; case does not matter' }),
    enabled: z.boolean().optional().meta({ description: 'Only those that are on, or off' }),
  }),
  output: z.strictObject({
    skills: z.array(listedSkill),
    total: z
      .int()
      .min(0)
      .meta({ description: `How many there are; at most ${MAX_LISTED} are listed` }),
  }),
  async run({ apiKeyId, name, enabled }, { services, principal }) {
    const owner = apiKeyId ?? ownerOf(principal);
    requireOwner(principal, owner);
    const part = name?.toLowerCase() ?? '';
    const visible = await services.skills.listVisible(owner);
    const found = visible.filter(
      (skill) => skill.name.toLowerCase().includes(part) && (enabled === undefined || skill.enabled === enabled),
    );
    return { structured: { skills: found.slice(0, MAX_LISTED).map(toListed), total: found.length } };
  },
});

export const enableSkill = defineTool({
  name: 'omniroute_skills_enable',
  title: 'Switch a skill on or off',
  description: 'Switches a skill on or off by its id. An API key may switch its own skills, the management every one.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scope: 'write:skills',
  input: z.strictObject({ skillId: idText, enabled: z.boolean() }),
  output: z.strictObject({
    success: z.literal(true),
    skillId: z.string(),
    name: z.string(),
    version: z.string(),
    enabled: z.boolean(),
    mode: z.enum(SKILL_MODES),
  }),
  async run({ skillId, enabled }, { services, principal }) {
    const { registry, skills } = services;
    const owner = ownerOf(principal);
    // What belongs to another key is, for a key, not there.
    const skill = isManagement(principal)
      ? await skills.get(skillId)
      : (await skills.listVisible(owner, skillId)).find(({ id }) => id === skillId);
    if (skill === undefined) throw new AppError('skill_not_found', `No skill with id ${skillId}`);
    requireOwner(principal, skill.apiKeyId);
    const changed = await registry.update(skillId, { enabled });
    if (changed === undefined) throw new AppError('skill_not_found', `No skill with id ${skillId}`);
    const { name, version, mode } = changed;
    return { structured: { success: true, skillId, name, version, enabled: changed.enabled, mode } };
  },
});
