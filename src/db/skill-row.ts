import { getTableColumns, sql } from 'drizzle-orm';
import * as z from 'zod';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { Logger } from '../logger.ts';
import { RISKS, type Skill, type SkillSchema } from '../skills/skill.ts';
import { skills } from './schema.ts';

const { modeWhenEnabled: _, ...columns } = getTableColumns(skills);

/** What to select, JSON as its text: drizzle's own parsing would fail the whole query for one bad row. */
export const skillColumns = {
  ...columns,
  schema: sql<string>`${skills.schema}`,
  tags: sql<string>`${skills.tags}`,
  riskFindings: sql<string>`${skills.riskFindings}`,
};

type JsonColumn = 'schema' | 'tags' | 'riskFindings';
export type SkillRow = Omit<Skill, JsonColumn> & Record<JsonColumn, string>;

const riskFindings = z.array(z.object({ risk: z.enum(RISKS), line: z.int(), text: z.string() }));

/** The skills of the rows. One that cannot be read is logged and left out, so that it never blocks the others. */
export function readSkillRows(rows: readonly SkillRow[], log: Logger): Skill[] {
  return rows.flatMap((row) => {
    const schema = readSchema(row.schema);
    const tags = readTags(row.tags);
    const findings = riskFindings.safeParse(parse(row.riskFindings)).data;
    if (schema !== undefined && tags !== undefined && findings !== undefined) return [{ ...row, schema, tags, riskFindings: findings }];
    const column = schema === undefined ? 'schema' : tags === undefined ? 'tags' : 'risk_findings';
    log.warn('skills.registry.bad_row', { skillId: row.id, column });
    return [];
  });
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function readSchema(text: string): SkillSchema | undefined {
  const value = parse(text);
  if (!isJsonObject(value) || !isJsonObject(value.input) || !isJsonObject(value.output)) return undefined;
  return { input: value.input, output: value.output };
}

function readTags(text: string): string[] | undefined {
  const value = parse(text);
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? value : undefined;
}
