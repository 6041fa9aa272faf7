import * as z from 'zod';
import { executionBody, listedExecutionBody, MAX_LISTED_VALUE_BYTES, toExecutionBody, toListedBody } from '../api/execution-body.ts';
import { findSkill } from '../api/find-skill.ts';
import { visibleOwner } from '../api/principal.ts';
import { jsonObject, plainText } from '../api/schemas.ts';
import type { JsonObject } from '../json.ts';
import { callSkill } from './call-skill.ts';
import { answerOf } from './skill-answer.ts';
import { defineTool } from './tool.ts';

const execution = z.strictObject(executionBody.shape);

const listedExecution = z.strictObject(listedExecutionBody.shape);

export const executeSkill = defineTool({
  name: 'omniroute_skills_execute',
  title: 'Run a skill',
  description:
    'Runs a skill and answers its execution once that has ended. A skill of instructions answers them, for you to follow. A skill that needs a person’s approval is run once it is there.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  scope: 'execute:skills',
  input: z.strictObject({
    skillName: plainText(400).min(1).meta({ description: 'A name, name@version, name@ and a constraint such as ^1.0.0, or an id' }),
    input: jsonObject.default({}).meta({ description: 'What the input schema of the skill asks for' }),
    sessionId: plainText(255).min(1).optional().meta({ description: 'Kept with the execution, to find it by' }),
  }),
  output: z.strictObject({
    execution,
    approval: z
      .strictObject({ id: z.string(), expiresAt: z.string() })
      .optional()
      .meta({ description: 'The call was not run: a person has to approve it, then it is to be made again' }),
  }),
  async run({ skillName, input, sessionId }, call) {
    const skill = await findSkill(call.services, call.principal, skillName, call.waitUntil);
    const result = await callSkill(skill, input, sessionId ?? null, call);
    if (result.kind === 'asks') return { asks: result.question };
    const { text, failed } = answerOf(skill, result);
    const structured: JsonObject = { execution: toExecutionBody(result.execution) };
    if (result.kind === 'parked') structured.approval = { id: result.approvalId, expiresAt: result.expiresAt };
    return { structured, text, failed };
  },
});

export const listExecutions = defineTool({
  name: 'omniroute_skills_executions',
  title: 'List executions',
  description:
    'Lists the runs of skills, newest first, with input, output and status; long inputs and outputs are left out. An API key sees its own, the management those of all.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  scope: 'read:skills',
  input: z.strictObject({ limit: z.int().min(1).max(100).default(50) }),
  output: z.strictObject({ executions: z.array(listedExecution) }),
  async run({ limit }, { services, principal }) {
    const found = await services.executions.listBrief({ apiKeyId: visibleOwner(principal) }, limit, MAX_LISTED_VALUE_BYTES);
    return { structured: { executions: found.map(toListedBody) } };
  },
});
