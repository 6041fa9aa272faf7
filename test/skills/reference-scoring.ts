import * as stopword from 'stopword';
import type { ScoringContext } from '../../src/skills/scoring-index.ts';
import type { Skill } from '../../src/skills/skill.ts';

// The rules of AUTO scoring word for word, one skill at a time, without any index: slow, and plain enough to be checked by reading.

const fold = (text: string) => text.normalize('NFKC').toUpperCase().toLowerCase().replace(/ς/g, 'σ').normalize('NFKC');

const LETTER_WITHOUT_SPACES = '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}]&&[\\p{L}\\p{N}]]';
const LETTER_WITH_SPACES = `[[\\p{L}\\p{N}]--${LETTER_WITHOUT_SPACES}]`;
const RUN = new RegExp(
  `(?<unspaced>${LETTER_WITHOUT_SPACES}(?:${LETTER_WITHOUT_SPACES}|\\p{M})*)|${LETTER_WITH_SPACES}(?:${LETTER_WITH_SPACES}|\\p{M})*`,
  'gv',
);

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

const lengthOf = (text: string) => Array.from(text).length;

const stopWords = new Set(
  Object.entries(stopword)
    .flatMap(([language, words]) => (language === 'removeStopwords' || !Array.isArray(words) ? [] : words))
    .map(fold),
);
stopWords.delete('from');

function tokens(text: string): Set<string> {
  const found = new Set<string>();
  for (const match of fold(text).matchAll(RUN)) {
    if (lengthOf(match[0]) >= 3) found.add(match[0]);
    if (match.groups?.unspaced === undefined) continue;
    for (const { segment } of segmenter.segment(match[0])) {
      if (lengthOf(segment) >= 2) found.add(segment);
    }
  }
  return found;
}

function nameTokens(name: string): Set<string> {
  const spaced = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[._\-@/]/g, ' ');
  return tokens(spaced);
}

const endsInsideWord = new RegExp(`${LETTER_WITH_SPACES}\\p{M}*$`, 'v');
const startsInsideWord = new RegExp(`^(?:${LETTER_WITH_SPACES}|\\p{M})`, 'v');

function standsWhole(name: string, context: string): boolean {
  for (let at = context.indexOf(name); at >= 0; at = context.indexOf(name, at + 1)) {
    const before = context.slice(0, at);
    const after = context.slice(at + name.length);
    if (!endsInsideWord.test(before) && !(endsInsideWord.test(name) && startsInsideWord.test(after))) return true;
  }
  return false;
}

const HINTS = { openai: ['openai', 'gpt'], anthropic: ['anthropic', 'claude'], google: ['google', 'gemini'] };

export function referenceScore(skill: Skill, { texts, provider, backgroundReason }: ScoringContext): number {
  const text = texts.join('\n');
  const context = fold(text);
  const contextTokens = tokens(text);
  const isInstalled = skill.sourceProvider === 'skillsmp' || skill.sourceProvider === 'skillssh';
  const unscored = isInstalled ? ['popular', 'marketplace', 'community'] : [];
  const tags = [...new Set(skill.tags.map((tag) => fold(tag).trim()))].filter((tag) => tag.length > 0 && !unscored.includes(tag));
  const names = nameTokens(skill.name);
  let score = 0;
  if (standsWhole(fold(skill.name), context)) score += 6;
  for (const token of names) if (contextTokens.has(token)) score += 2;
  for (const tag of tags) if (context.includes(tag)) score += 3;
  for (const token of tokens(skill.description)) if (!stopWords.has(token) && contextTokens.has(token)) score += 1;
  for (const token of (backgroundReason ?? '').split('_').filter((part) => part.length >= 3)) {
    if (names.has(token)) score += 2;
    if (tags.some((tag) => tag.includes(token) || token.includes(tag))) score += 2;
  }
  const hints = tags.filter((tag) => Object.values(HINTS).flat().includes(tag));
  if (hints.length > 0) score += provider !== undefined && hints.some((hint) => HINTS[provider].includes(hint)) ? 2 : -2;
  return score;
}

/** Every skill that scores above 0, in the order in which they are offered. */
export const referenceRanking = (skills: readonly Skill[], context: ScoringContext): { skill: Skill; score: number }[] =>
  skills
    .map((skill) => ({ skill, score: referenceScore(skill, context) }))
    .filter(({ score }) => score > 0)
    .sort(
      (left, right) =>
        right.score - left.score ||
        right.skill.installCount - left.skill.installCount ||
        (left.skill.name < right.skill.name ? -1 : left.skill.name > right.skill.name ? 1 : 0),
    );
