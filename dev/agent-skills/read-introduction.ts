import { readFileSync } from 'node:fs';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import * as z from 'zod';

/** What a person writes of a skill; the rest of its SKILL.md is made from the product. */
export interface Introduction {
  /** What it is about and when to use it. */
  description: string;
  /** Markdown. */
  text: string;
}

const frontmatter = z.strictObject({ description: z.string().min(1).max(1024) });

/** Throws an Error that names the file when it is not there or not as it should be. */
export function readIntroduction(file: string): Introduction {
  const [, yaml, text] = /^---\n(.*?)\n---\n(.*)$/s.exec(readFileSync(file, 'utf8')) ?? [];
  if (yaml === undefined || text === undefined) throw new Error(`${file} does not begin with frontmatter`);
  const parsed = frontmatter.safeParse(load(yaml, { schema: FAILSAFE_SCHEMA }));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  return { description: parsed.data.description, text: text.trim() };
}
