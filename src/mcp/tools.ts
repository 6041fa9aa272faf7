import { getAgentSkill, listAgentSkills } from './agent-skill-tools.ts';
import { executeSkill, listExecutions } from './execution-tools.ts';
import { enableSkill, listSkills } from './skill-tools.ts';
import type { McpTool } from './tool.ts';

/** The tools of this product, in the order in which clients list them. */
export const MCP_TOOLS: readonly McpTool[] = [listSkills, enableSkill, executeSkill, listExecutions, listAgentSkills, getAgentSkill];
