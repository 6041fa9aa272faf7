import compare from 'semver/functions/compare.js';
import { AppError } from '../errors.ts';
import { type Skill, skillKey } from '../skills/skill.ts';

const FIRST_VERSION = '1.0.0';

type Installed = Pick<Skill, 'name' | 'version' | 'sourceUrl' | 'contentSha256'>;

/**
 * The version under which a SKILL.md is installed beside those of its name that the owner has: the one it states, or 1.0.0, when it is the first;
 * for changed content of the same source the one it states if that is higher than all, else the next patch of the highest. Throws `skill_exists`
 * for content that is installed already, and for a name that is taken by a skill from elsewhere.
 */
export function nextVersion(
  owned: readonly Installed[],
  file: { name: string; version: string | undefined; sourceUrl: string; contentSha256: string },
): string {
  const foreign = owned.find(({ sourceUrl }) => sourceUrl !== file.sourceUrl);
  if (foreign !== undefined) {
    const source = foreign.sourceUrl === null ? '' : `, from ${foreign.sourceUrl}`;
    throw new AppError('skill_exists', `A skill named ${file.name} is installed already${source}. Delete it first.`);
  }
  const same = owned.find(({ contentSha256 }) => contentSha256 === file.contentSha256);
  if (same !== undefined) throw new AppError('skill_exists', `${skillKey(same)} is installed already, with the same content`);
  const [highest] = owned.map(({ version }) => version).toSorted((left, right) => compare(right, left));
  if (highest === undefined) return file.version ?? FIRST_VERSION;
  if (file.version !== undefined && compare(file.version, highest) > 0) return file.version;
  const [major, minor, patch] = highest.split('.').map(Number);
  return [major, minor, (patch ?? 0) + 1].join('.');
}
