import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';

/** What a SKILL.md says (https://agentskills.io/specification). */
export interface SkillMarkdown {
  name: string | undefined;
  description: string | undefined;
  version: string | undefined;
  tags: string[];
  /** The Markdown below the frontmatter. */
  instructions: string;
}

/** Values that YAML reads as something other than the text that stands there. */
const OPENS_YAML = /^["'|>[{&*!#-]/;

/** Many authors write `description: Use when: ...`, which YAML takes for a nested mapping; quoted it is what they mean. */
function quotePlainValues(yaml: string): string {
  const quoteLine = (line: string): string => {
    const colon = line.indexOf(': ');
    const key = line.slice(0, colon);
    const value = line.slice(colon + 2).trim();
    return /^[A-Za-z][\w-]*$/.test(key) && value !== '' && !OPENS_YAML.test(value) ? `${key}: ${JSON.stringify(value)}` : line;
  };
  return yaml.split('\n').map(quoteLine).join('\n');
}

/** All scalars stay text: a version of 1.10 is no number. */
function readYaml(yaml: string): unknown {
  try {
    return load(yaml, { schema: FAILSAFE_SCHEMA });
  } catch {
    return undefined;
  }
}

function readFrontmatter(lines: readonly string[]): JsonObject {
  const yaml = lines.join('\n');
  if (yaml.trim() === '') return {};
  const fields = readYaml(yaml) ?? readYaml(quotePlainValues(yaml));
  if (isJsonObject(fields)) return fields;
  throw new AppError('skill_unusable', 'The frontmatter of SKILL.md is not valid YAML');
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

/** A list, or a text with commas. */
function listOf(value: unknown): string[] {
  const items = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  return items.flatMap((item) => textOf(item) ?? []);
}

/** Reads a SKILL.md. Throws `skill_unusable` when its frontmatter cannot be read or nothing stands below it. */
export function parseSkillMarkdown(text: string): SkillMarkdown {
  const lines = text.split(/\r?\n/);
  const isFence = (line: string | undefined): boolean => line?.trimEnd() === '---';
  const end = isFence(lines[0]) ? lines.findIndex((line, index) => index > 0 && isFence(line)) : 0;
  if (end < 0) throw new AppError('skill_unusable', 'The frontmatter of SKILL.md does not end: its closing --- is missing');
  const fields = readFrontmatter(lines.slice(1, Math.max(end, 1)));
  const metadata = isJsonObject(fields.metadata) ? fields.metadata : {};
  const instructions = lines
    .slice(end === 0 ? 0 : end + 1)
    .join('\n')
    .trim();
  if (instructions === '') throw new AppError('skill_unusable', 'SKILL.md has no instructions below its frontmatter');
  return {
    name: textOf(fields.name),
    description: textOf(fields.description),
    version: textOf(fields.version) ?? textOf(metadata.version),
    tags: listOf(fields.tags ?? metadata.tags),
    instructions,
  };
}
