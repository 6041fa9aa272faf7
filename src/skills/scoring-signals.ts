import { POINTS } from './scoring-points.ts';
import { type Postings, packPostings, toEntry } from './scoring-postings.ts';
import type { SkillWords } from './scoring-standing.ts';
import { isStopWord } from './scoring-stop-words.ts';
import { type Skill, SOURCE_TAGS, type SourceProvider } from './skill.ts';
import { foldText, isUnspaced, nameTokensOf, tokensOf } from './tokenize.ts';

/** Where a pattern is no tag, no name or no token. */
export const NONE = -1;

/**
 * What a text is searched for. A token has the signal of its own number; a pattern can be a tag, a whole name and a word of a script
 * without spaces all at once.
 */
export interface Signals {
  words: readonly SkillWords[];
  tokens: readonly string[];
  patterns: readonly string[];
  /** Per pattern: its signal as a tag and as a whole name, and the number of the token that it is; else NONE. */
  tagSignals: Int32Array;
  nameSignals: Int32Array;
  patternTokens: Int32Array;
  postings: Postings;
}

const NO_TAGS: ReadonlySet<string> = new Set();
const SOURCE_TAGS_OF: Readonly<Record<SourceProvider, ReadonlySet<string>>> = {
  ...{ builtin: NO_TAGS, local: NO_TAGS },
  ...{ skillsmp: new Set(SOURCE_TAGS), skillssh: new Set(SOURCE_TAGS) },
};

/** The tags that score: where a skill is from has nothing to do with what is asked. */
function tagsOf({ tags, sourceProvider }: Skill): Set<string> {
  const unscored = SOURCE_TAGS_OF[sourceProvider];
  return new Set(tags.map((tag) => foldText(tag).trim()).filter((tag) => tag !== '' && !unscored.has(tag)));
}

type Entries = Map<string, number[]>;

function addEntry(entries: Entries, word: string, entry: number): void {
  const known = entries.get(word);
  if (known) known.push(entry);
  else entries.set(word, [entry]);
}

/** Takes skills apart. A skill is named by its place in the list from here on. */
export function collectSignals(skills: readonly Skill[]): Signals {
  const byToken: Entries = new Map();
  const byTag: Entries = new Map();
  const byName: Entries = new Map();
  const words = skills.map((each, skill) => {
    const { name, description } = each;
    const nameTokens = nameTokensOf(name);
    const points = new Map<string, number>();
    for (const token of nameTokens) points.set(token, POINTS.nameToken);
    for (const token of tokensOf(description)) {
      if (!isStopWord(token)) points.set(token, (points.get(token) ?? 0) + POINTS.descriptionToken);
    }
    for (const [token, value] of points) addEntry(byToken, token, toEntry(skill, value));
    const skillTags = tagsOf(each);
    for (const tag of skillTags) addEntry(byTag, tag, toEntry(skill, POINTS.tag));
    addEntry(byName, foldText(name), toEntry(skill, POINTS.wholeName));
    return { nameTokens, tags: skillTags };
  });

  const tokens = [...byToken.keys()];
  const unspacedTokens = new Map(tokens.map((token, number) => [token, number] as const).filter(([token]) => isUnspaced(token)));
  const patterns = [...new Set([...byTag.keys(), ...byName.keys(), ...unspacedTokens.keys()])];
  const signals = [...byToken.values()];
  const addSignal = (entries: number[] | undefined): number => (entries ? signals.push(entries) - 1 : NONE);
  return {
    words,
    tokens,
    patterns,
    tagSignals: Int32Array.from(patterns, (pattern) => addSignal(byTag.get(pattern))),
    nameSignals: Int32Array.from(patterns, (pattern) => addSignal(byName.get(pattern))),
    patternTokens: Int32Array.from(patterns, (pattern) => unspacedTokens.get(pattern) ?? NONE),
    postings: packPostings(signals, skills.length),
  };
}
