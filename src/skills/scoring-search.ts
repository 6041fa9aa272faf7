import { buildAutomaton } from './scoring-automaton.ts';
import type { Tally } from './scoring-postings.ts';
import type { Signals } from './scoring-signals.ts';
import { buildTokenTable } from './scoring-token-table.ts';
import { continuesWord, foldNonAscii, hashRun, isContinued, MIN_TOKEN_LENGTH, scanRuns, segmentWords } from './tokenize.ts';

/** Of text without spaces, how much of one request is split into words; after that, a word counts wherever it occurs. */
const MAX_SEGMENTED_LENGTH = 65_536;

/** Makes a function that adds to the tally, once each, the points of all that stands in a text. */
export function createSearch({ tokens, tokenPostings, patterns, tagPostings, namePostings, patternTokens }: Signals, tally: Tally) {
  const automaton = buildAutomaton(patterns);
  const table = buildTokenTable(tokens);
  /** The search in which a token, a tag or a name was found last, and that in which nothing more can come of a pattern. */
  const tokenFound = new Uint32Array(tokens.length);
  const tagFound = new Uint32Array(patterns.length);
  const nameFound = new Uint32Array(patterns.length);
  const settled = new Uint32Array(patterns.length);
  let search = 0;
  let unspacedWordOccurs = false;

  function takeToken(token: number): void {
    if (token < 0 || tokenFound[token] === search) return;
    tokenFound[token] = search;
    tally.add(tokenPostings[token]!);
  }

  /** Returns whether all that a further occurrence could add is added. */
  function takePattern(text: string, pattern: number, end: number): boolean {
    const tag = tagPostings[pattern];
    if (tag && tagFound[pattern] !== search) {
      tagFound[pattern] = search;
      tally.add(tag);
    }
    if (patternTokens[pattern] !== undefined) unspacedWordOccurs = true;
    const name = namePostings[pattern];
    if (!name || nameFound[pattern] === search) return true;
    if (continuesWord(text, end - patterns[pattern]!.length) || isContinued(text, end)) return false;
    nameFound[pattern] = search;
    tally.add(name);
    return true;
  }

  function takeMatches(text: string, longest: number, end: number): void {
    let allSettled = true;
    for (let pattern = longest; pattern >= 0 && settled[pattern] !== search; pattern = automaton.suffixOf(pattern)) {
      allSettled = takePattern(text, pattern, end) && allSettled;
    }
    if (allSettled) settled[longest] = search;
  }

  /** The tokens of a script without spaces that occur in the run and are not found yet, be they words in it or not. */
  function tokensInside(text: string, start: number, end: number): number[] {
    const inside: number[] = [];
    automaton.search(text, start, end, false, (longest) => {
      for (let pattern = longest; pattern >= 0; pattern = automaton.suffixOf(pattern)) {
        const token = patternTokens[pattern];
        if (token !== undefined && tokenFound[token] !== search) inside.push(token);
      }
    });
    return inside;
  }

  function searchTokens(text: string): void {
    let segmentedLength = 0;
    scanRuns(text, (start, end, length, unspaced, hash) => {
      if (length >= MIN_TOKEN_LENGTH) takeToken(table.find(text, start, end, hash));
      if (!unspaced || !unspacedWordOccurs) return;
      const inside = tokensInside(text, start, end);
      if (inside.length === 0) return;
      segmentedLength += end - start;
      if (segmentedLength > MAX_SEGMENTED_LENGTH) for (const token of inside) takeToken(token);
      else for (const word of segmentWords(text.slice(start, end))) takeToken(table.find(word, 0, word.length, hashRun(word)));
    });
  }

  function begin(): void {
    search++;
    unspacedWordOccurs = false;
    tally.reset();
  }

  const searchPatterns = (text: string, asciiOnly: boolean): number =>
    automaton.search(text, 0, text.length, asciiOnly, (longest, end) => {
      if (settled[longest] !== search) takeMatches(text, longest, end);
    });

  return (text: string): void => {
    begin();
    let folded = text;
    if (searchPatterns(text, true) < text.length) {
      begin();
      folded = foldNonAscii(text);
      searchPatterns(folded, false);
    }
    searchTokens(folded);
  };
}
