import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import type { A2ASkill, A2ASkillRegistry } from '../a2a-skill.ts';

/** Skills of the gateway that are told of; `skillCount` says how many there are. */
const MAX_SKILLS = 200;

const listCapabilities: A2ASkill<Record<string, never>> = {
  id: 'list-capabilities',
  name: 'List capabilities',
  description:
    'Lists what this agent can be asked for, the skills that the gateway gives to models of the same API key, the model providers, and the texts that tell how to use the gateway.',
  tags: ['capabilities', 'discovery', 'skills'],
  examples: ['list-capabilities'],
  input: z.strictObject({}),
  async execute(_, context) {
    const visible = (await context.visibleSkills()).filter(({ mode }) => mode !== 'off');
    const agentSkills = context.agentSkills().map(({ id, name, description, input }) => ({
      id,
      name,
      description,
      input: z.toJSONSchema(input, { io: 'input' }) as unknown as JsonObject,
    }));
    const skills = visible
      .slice(0, MAX_SKILLS)
      .map(({ name, version, description, mode, policy }) => ({ name, version, description, mode, policy }));
    const howToTexts = (await context.howToTexts()).map((text) => ({ ...text }));
    const providers = context.providers.map(({ name, format }) => ({ name, format }));
    return {
      text: [
        `This agent can be asked for ${agentSkills.map(({ id }) => id).join(', ')}.`,
        `The gateway has ${visible.length} skills for the models of this key${visible.length > MAX_SKILLS ? `, the first ${MAX_SKILLS} of them listed` : ''}.`,
        providers.length === 0 ? 'No provider is configured.' : `Providers: ${providers.map(({ name }) => name).join(', ')}.`,
        `${howToTexts.length} texts tell how to use the gateway's API, MCP tools and command line: GET /api/agent-skills/{id}.`,
      ].join(' '),
      data: { agentSkills, skills, skillCount: visible.length, providers, howToTexts },
    };
  },
};

export const registerA2ASkill = (registry: A2ASkillRegistry): void => registry.register(listCapabilities);
