import coerce from 'semver/functions/coerce.js';
import { eng } from 'stopword';
import { skillName, skillVersion } from '../skills/skill.ts';
import { foldText } from '../skills/tokenize.ts';

/** What a model provider takes of a tool's description. */
const MAX_DESCRIPTION_CHARS = 1_024;
const MAX_TAGS = 20;
const MAX_TAG_CHARS = 64;
/** A shorter tag stands in nearly every request, and would have the skill offered with nearly every one. */
const MIN_TAG_CHARS = 3;
/** Digits of one part of a version; leaves room to count on. */
const MAX_VERSION_DIGITS = 9;

const STOP_WORDS: ReadonlySet<string> = new Set(eng);

/** A name that the registry takes, as close to this one as can be: "My Skill: é" is My-Skill-e. Undefined when nothing is left of it. */
export function fitSkillName(text: string): string | undefined {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '');
  const name = plain
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 100)
    .replace(/[._-]+$/, '');
  return skillName.safeParse(name).success ? name : undefined;
}

/** One line of valid Unicode, cut to what every provider takes. */
export function fitDescription(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= MAX_DESCRIPTION_CHARS ? line : `${characters.slice(0, MAX_DESCRIPTION_CHARS - 1).join('')}…`;
}

/** Tags that tell one skill from others, each once. */
export function fitTags(tags: readonly string[]): string[] {
  const fitted = tags.map((tag) =>
    foldText(tag.toWellFormed())
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
  );
  return [...new Set(fitted)]
    .filter((tag) => tag.length >= MIN_TAG_CHARS && tag.length <= MAX_TAG_CHARS && !STOP_WORDS.has(tag))
    .slice(0, MAX_TAGS);
}

/** The version that a text such as `2.1` or `v1.0.3` means; undefined when it means none. */
export function fitVersion(text: string): string | undefined {
  const version = coerce(text, { loose: true })?.version;
  if (version === undefined || !skillVersion.safeParse(version).success) return undefined;
  return version.split('.').every((part) => part.length <= MAX_VERSION_DIGITS) ? version : undefined;
}
