import type { OfferedSkill } from '../gateway/offered-skills.ts';
import type { JsonObject } from '../json.ts';
import type { Services } from '../services.ts';
import { isExecutable, type Skill } from '../skills/skill.ts';
import { toolName } from '../skills/tool-name.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { callSkill } from './call-skill.ts';
import { answerOf } from './skill-answer.ts';
import type { ToolAnswer, ToolCall } from './tool.ts';

const EXECUTION_META_KEY = 'omniroute/executionId';

/**
 * The skills that are tools of their own for this owner, sorted by tool name: those that a model is offered, which a `manual` one never is.
 */
export async function offeredSkills(services: Services, apiKeyId: string, waitUntil: WaitUntil): Promise<OfferedSkill[]> {
  const { registry, settings } = services;
  const [{ skills, compiled }, { skillsEnabled, customSkillExecutionEnabled }] = await Promise.all([
    registry.catalogue(apiKeyId, waitUntil),
    settings.get(waitUntil),
  ]);
  if (!skillsEnabled) return [];
  const offers = customSkillExecutionEnabled ? compiled.all : compiled.builtinOnly;
  const offered = skills.flatMap((skill) => offers.of(skill) ?? []);
  return offered.sort((left, right) => (left.toolName < right.toolName ? -1 : 1));
}

/** A skill in the shape of MCP. It has no output schema: a client that checks outputs would drop what a failing or waiting call says. */
export const toolOf = ({ skill, toolName: name }: OfferedSkill): JsonObject => ({
  name,
  title: skill.name,
  description: skill.description,
  inputSchema: skill.schema.input,
  annotations: skill.kind === 'instructions' ? { readOnlyHint: true, openWorldHint: false } : { idempotentHint: skill.idempotent },
});

/** The skill that a tool stands for. What the cache does not know may have been installed or switched on through another isolate. */
export async function findOfferedSkill({ services, context, waitUntil }: ToolCall, name: string): Promise<Skill | undefined> {
  const known = (await offeredSkills(services, context.apiKeyId, waitUntil)).find((offered) => offered.toolName === name);
  if (known) return known.skill;
  const visible = await services.skills.listVisible(context.apiKeyId);
  for (const skill of visible) {
    if (isExecutable(skill) && skill.policy !== 'manual' && (await toolName(skill)) === name) return skill;
  }
  return undefined;
}

export async function callOfferedSkill(skill: Skill, input: JsonObject, call: ToolCall): Promise<ToolAnswer> {
  const result = await callSkill(skill, input, null, call);
  if (result.kind === 'asks') return { asks: result.question };
  const { body, text, failed } = answerOf(skill, result);
  return { structured: body, text, failed, meta: { [EXECUTION_META_KEY]: result.execution.id } };
}
