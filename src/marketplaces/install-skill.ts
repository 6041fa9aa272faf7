import { AppError } from '../errors.ts';
import { builtinSkills } from '../skills/builtin/index.ts';
import type { Registry } from '../skills/registry.ts';
import type { Skill, SkillSchema, SourceTag } from '../skills/skill.ts';
import type { SkillStore } from '../skills/skill-store.ts';
import { fitDescription, fitSkillName, fitTags, fitVersion } from './fit-fields.ts';
import type { MarketplaceName } from './marketplace.ts';
import { nextVersion } from './next-version.ts';
import { isPopular } from './popular-skills.ts';
import { readSkillFile } from './read-skill-file.ts';
import { findRisks } from './risk-findings.ts';
import type { SkillLocation } from './skill-location.ts';
import { parseSkillMarkdown, type SkillMarkdown } from './skill-markdown.ts';

/** What the marketplace says of a skill, beside its SKILL.md. */
export interface InstallRequest {
  marketplace: MarketplaceName;
  location: SkillLocation;
  /** Where SKILL.md files are read from, without a slash at its end. */
  rawBaseUrl: string;
  /** Used when the SKILL.md has none. */
  description: string | null;
  /** Stars or installs; decides between skills that score the same. */
  installCount: number;
  /** Id of the API key, or `system`. */
  owner: string;
}

export interface InstallOptions {
  fetch: typeof fetch;
  skills: Pick<SkillStore, 'listVisible'>;
  registry: Pick<Registry<unknown>, 'install'>;
  timeoutMs: number;
}

/** Reading instructions needs nothing; the task is there because models do better when they say what they want. */
const SCHEMA: SkillSchema = {
  input: {
    type: 'object',
    properties: { task: { type: 'string', description: 'What you are about to do. The answer is instructions for it: follow them.' } },
  },
  output: {
    type: 'object',
    properties: { success: { type: 'boolean' }, instructions: { type: 'string' } },
    required: ['success', 'instructions'],
  },
};

const SOURCE_TAG_OF: Readonly<Record<MarketplaceName, SourceTag>> = { skillsmp: 'marketplace', skillssh: 'community' };

const BUILTIN_NAMES: ReadonlySet<string> = new Set(builtinSkills.map(({ name }) => name));

function nameOf(markdown: SkillMarkdown, location: SkillLocation): string {
  const name = fitSkillName(markdown.name ?? '') ?? fitSkillName(location.folder);
  if (name === undefined) throw new AppError('skill_unusable', 'SKILL.md has no name that a skill can have');
  // A higher version of a built-in skill's name would be offered in its place.
  if (BUILTIN_NAMES.has(name)) throw new AppError('skill_unusable', `SKILL.md has the name of a built-in skill: ${name}`);
  return name;
}

function descriptionOf(markdown: SkillMarkdown, listed: string | null): string {
  const description = fitDescription(markdown.description ?? listed ?? '');
  if (description === '') throw new AppError('skill_unusable', 'SKILL.md has no description');
  return description;
}

/**
 * Reads a SKILL.md and stores it as a skill of mode `auto` whose call returns its instructions. Rejects, having stored nothing, as `readSkillFile`
 * and `nextVersion` do, and with `skill_unusable`.
 */
export async function installSkill({ fetch, skills, registry, timeoutMs }: InstallOptions, request: InstallRequest): Promise<Skill> {
  const { marketplace, location, rawBaseUrl, owner, installCount } = request;
  const file = await readSkillFile(fetch, location, timeoutMs);
  const markdown = parseSkillMarkdown(file.text);
  const name = nameOf(markdown, location);
  const description = descriptionOf(markdown, request.description);
  const owned = (await skills.listVisible(owner, name)).filter((skill) => skill.apiKeyId === owner && skill.name === name);
  const source = { sourceUrl: file.url, contentSha256: file.sha256 };
  const version = nextVersion(owned, { name, version: fitVersion(markdown.version ?? ''), ...source });
  const sourceTag: SourceTag = isPopular(file.url, rawBaseUrl) ? 'popular' : SOURCE_TAG_OF[marketplace];
  return registry.install({
    ...{ apiKeyId: owner, name, version, description, schema: SCHEMA, handler: markdown.instructions, kind: 'instructions' },
    ...{ mode: 'auto', sourceProvider: marketplace, ...source, installCount, tags: [...new Set([...fitTags(markdown.tags), sourceTag])] },
    // Who has decided that a person must be asked has decided so for what comes after, too.
    policy: owned.find((skill) => skill.policy !== 'auto')?.policy ?? 'auto',
    ...{ timeoutMs: null, maxRetries: null, idempotent: true, riskFindings: findRisks(file.text) },
  });
}
