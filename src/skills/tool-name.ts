import { sha256Hex } from '../hex.ts';
import { type Skill, skillKey } from './skill.ts';

/** What every provider takes as a tool's name. */
export const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

const MAX_LENGTH = 64;
const DIGEST_LENGTH = 8;

/**
 * The name under which a model sees a skill: `<name>_v<major>_<minor>_<patch>` where providers take that, else as much of it as fits, with
 * `_` for what they do not take, and 8 hex digits of the SHA-256 of `name@version`.
 */
export async function toolName(skill: Pick<Skill, 'name' | 'version'>): Promise<string> {
  const plain = `${skill.name}_v${skill.version.replaceAll('.', '_')}`;
  if (TOOL_NAME.test(plain)) return plain;
  const slug = plain.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z])/, 's');
  const digest = (await sha256Hex(skillKey(skill))).slice(0, DIGEST_LENGTH);
  return `${slug.slice(0, MAX_LENGTH - 1 - DIGEST_LENGTH)}_${digest}`;
}
