import { type Skill, skillKey } from './skill.ts';

/** What every provider takes as a tool's name. */
export const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

const MAX_LENGTH = 64;
const DIGEST_BYTES = 4;
const SEPARATOR_AND_DIGEST_LENGTH = 1 + DIGEST_BYTES * 2;

async function shortDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, DIGEST_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The name under which a model sees a skill: `<name>_v<major>_<minor>_<patch>` where providers take that, else as much of it as fits, with
 * `_` for what they do not take, and 8 hex digits of the SHA-256 of `name@version`.
 */
export async function toolName(skill: Pick<Skill, 'name' | 'version'>): Promise<string> {
  const plain = `${skill.name}_v${skill.version.replaceAll('.', '_')}`;
  if (TOOL_NAME.test(plain)) return plain;
  const slug = plain.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z])/, 's');
  return `${slug.slice(0, MAX_LENGTH - SEPARATOR_AND_DIGEST_LENGTH)}_${await shortDigest(skillKey(skill))}`;
}
