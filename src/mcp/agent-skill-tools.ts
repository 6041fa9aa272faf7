import * as z from 'zod';
import { agentSkillFilterSchema, agentSkillListSchema, agentSkillTextSchema } from '../agent-skills/agent-skill.ts';
import { idText } from '../api/schemas.ts';
import { AppError } from '../errors.ts';
import { defineTool } from './tool.ts';

const annotations = { readOnlyHint: true, openWorldHint: false };

export const listAgentSkills = defineTool({
  name: 'omniroute_agent_skills_list',
  title: 'List how-to texts',
  description: 'Lists the texts that explain to an agent how to use this gateway: its REST API, its MCP tools and its command line.',
  annotations,
  scope: undefined,
  input: agentSkillFilterSchema,
  output: agentSkillListSchema,
  async run(filter, { services }) {
    return { structured: { ...(await services.agentSkills.list(filter)) } };
  },
});

export const getAgentSkill = defineTool({
  name: 'omniroute_agent_skills_get',
  title: 'Read a how-to text',
  description: 'Answers one of the texts that omniroute_agent_skills_list lists, as Markdown.',
  annotations,
  scope: undefined,
  input: z.strictObject({ id: idText }),
  output: agentSkillTextSchema,
  async run({ id }, { services }) {
    const skill = await services.agentSkills.get(id);
    if (skill === undefined) throw new AppError('skill_not_found', `No agent skill with id ${id}`);
    return { structured: { ...skill }, text: skill.markdown };
  },
});
