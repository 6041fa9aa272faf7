import * as z from 'zod';

/** What a text is about: the REST API, the tools of the MCP server, the command line, or how several of them do something together. */
export const AGENT_SKILL_CATEGORIES = ['api', 'mcp', 'cli', 'guide'] as const;

/** A text for an agent outside that is to use this product, in the format of Agent Skills (https://agentskills.io/specification). */
export const agentSkillSchema = z.strictObject({
  id: z.string().meta({ description: 'Also the `name` in its SKILL.md, and of the folder to put that into' }),
  name: z.string(),
  description: z.string().meta({ description: 'What it is about and when to use it' }),
  category: z.enum(AGENT_SKILL_CATEGORIES),
  area: z.string(),
});
export type AgentSkill = z.infer<typeof agentSkillSchema>;

export const agentSkillTextSchema = agentSkillSchema.extend({
  markdown: z.string().meta({ description: 'The whole SKILL.md, frontmatter included' }),
});
export type AgentSkillText = z.infer<typeof agentSkillTextSchema>;

const coverage = z.strictObject({ total: z.int().min(0), covered: z.int().min(0), missing: z.array(z.string()) });

/** How much of the product the texts describe. */
export const agentSkillCoverageSchema = z.strictObject({
  operations: coverage.meta({ description: 'Of the OpenAPI document, such as `GET /api/skills`' }),
  tools: coverage.meta({ description: 'Of the MCP server' }),
  commands: coverage.meta({ description: 'Of the command line' }),
});
export type AgentSkillCoverage = z.infer<typeof agentSkillCoverageSchema>;

export const agentSkillListSchema = z.strictObject({
  skills: z.array(agentSkillSchema),
  count: z.int().min(0),
  coverage: agentSkillCoverageSchema,
});
export type AgentSkillList = z.infer<typeof agentSkillListSchema>;

export const agentSkillFilterSchema = z.strictObject({
  category: z.enum(AGENT_SKILL_CATEGORIES).optional(),
  area: z.string().max(64).optional().meta({ description: 'Such as `skills`; texts of several categories may have the same' }),
});
export type AgentSkillFilter = z.infer<typeof agentSkillFilterSchema>;
