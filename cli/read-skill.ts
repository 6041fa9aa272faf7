import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '../src/errors.ts';
import type { JsonObject } from '../src/json.ts';
import { parseSkillMarkdown } from '../src/marketplaces/skill-markdown.ts';
import { usageError } from './exit-code.ts';
import { parseJsonObject, readSource } from './read-source.ts';

/** What a SKILL.md says, as the gateway is asked to install it. Throws a usage error. */
function readMarkdown(text: string, file: string): JsonObject {
  try {
    const { name, description, version, tags, instructions } = parseSkillMarkdown(text);
    return {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(version !== undefined && { version }),
      schema: { input: {}, output: {} },
      mode: 'auto',
      tags,
      instructions,
    };
  } catch (error) {
    if (error instanceof AppError) throw usageError(`${file}: ${error.message}`);
    throw error;
  }
}

async function readFolder(folder: string, stdin: Readable): Promise<JsonObject> {
  const [json, markdown] = [join(folder, 'skill.json'), join(folder, 'SKILL.md')];
  const texts = existsSync(markdown) ? readMarkdown(await readSource(markdown, stdin), markdown) : {};
  if (existsSync(json)) return { ...texts, ...parseJsonObject(await readSource(json, stdin), json) };
  if (existsSync(markdown)) return texts;
  throw usageError(`${folder} has neither a skill.json nor a SKILL.md`);
}

/**
 * The body that installs a skill: of a folder what its skill.json and SKILL.md say, the former first; of a file what it says; of `-` the JSON
 * on standard input. Rejects with a usage error.
 */
export async function readSkill(source: string, stdin: Readable): Promise<JsonObject> {
  if (statSync(source, { throwIfNoEntry: false })?.isDirectory()) return readFolder(source, stdin);
  const text = await readSource(source, stdin);
  return source.toLowerCase().endsWith('.md')
    ? readMarkdown(text, source)
    : parseJsonObject(text, source === '-' ? 'Standard input' : source);
}
