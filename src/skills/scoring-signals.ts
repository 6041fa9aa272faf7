import { POINTS } from './scoring-points.ts';
import { createPostings, type Postings, toEntry } from './scoring-postings.ts';
import type { SkillWords } from './scoring-standing.ts';
import { isStopWord } from './scoring-stop-words.ts';
import type { Skill } from './skill.ts';
import { foldText, isUnspaced, nameTokensOf, tokensOf } from './tokenize.ts';

/** What a text is searched for. A pattern can be a tag, a whole name and a word of a script without spaces all at once. */
export interface Signals {
  words: readonly SkillWords[];
  tokens: readonly string[];
  /** Points of each token. */
  tokenPostings: readonly Postings[];
  patterns: readonly string[];
  /** Per pattern: the points of the tag, of the whole name, and the number of the token that it is. */
  tagPostings: readonly (Postings | undefined)[];
  namePostings: readonly (Postings | undefined)[];
  patternTokens: readonly (number | undefined)[];
}

const foldTags = (tags: readonly string[]): Set<string> => new Set(tags.map((tag) => foldText(tag).trim()).filter((tag) => tag !== ''));

/** The entries of each word, kept in the order in which words and skills were met. */
function createEntries() {
  const entries = new Map<string, number[]>();
  return {
    entries,
    add(word: string, entry: number) {
      const known = entries.get(word);
      if (known) known.push(entry);
      else entries.set(word, [entry]);
    },
  };
}

/** Takes skills apart. A skill is named by its place in the list from here on. */
export function collectSignals(skills: readonly Skill[]): Signals {
  const byToken = createEntries();
  const byTag = createEntries();
  const byName = createEntries();
  const words = skills.map(({ name, description, tags }, skill) => {
    const nameTokens = nameTokensOf(name);
    const points = new Map<string, number>();
    for (const token of nameTokens) points.set(token, POINTS.nameToken);
    for (const token of tokensOf(description)) {
      if (!isStopWord(token)) points.set(token, (points.get(token) ?? 0) + POINTS.descriptionToken);
    }
    for (const [token, value] of points) byToken.add(token, toEntry(skill, value));
    const skillTags = foldTags(tags);
    for (const tag of skillTags) byTag.add(tag, toEntry(skill, POINTS.tag));
    byName.add(foldText(name), toEntry(skill, POINTS.wholeName));
    return { nameTokens, tags: skillTags };
  });

  const tokens = [...byToken.entries.keys()];
  const unspacedTokens = new Map(tokens.map((token, number) => [token, number] as const).filter(([token]) => isUnspaced(token)));
  const patterns = [...new Set([...byTag.entries.keys(), ...byName.entries.keys(), ...unspacedTokens.keys()])];
  const postings = (entries: readonly number[] | undefined) => entries && createPostings(entries, skills.length);
  return {
    words,
    tokens,
    tokenPostings: tokens.map((token) => createPostings(byToken.entries.get(token)!, skills.length)),
    patterns,
    tagPostings: patterns.map((pattern) => postings(byTag.entries.get(pattern))),
    namePostings: patterns.map((pattern) => postings(byName.entries.get(pattern))),
    patternTokens: patterns.map((pattern) => unspacedTokens.get(pattern)),
  };
}
