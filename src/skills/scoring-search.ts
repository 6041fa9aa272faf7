import { buildAutomaton } from './scoring-automaton.ts';
import type { Tally } from './scoring-postings.ts';
import type { Signals } from './scoring-signals.ts';
import { buildTokenTable } from './scoring-token-table.ts';
import { continuesWord, foldNonAscii, isContinued, MIN_TOKEN_LENGTH, scanRuns, segmentWords } from './tokenize.ts';

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
    for (let match = longest; match !== 0; match = automaton.shorterMatch(match)) {
      const pattern = automaton.patternOf(match);
      if (settled[pattern] === search) break;
      allSettled = takePattern(text, pattern, end) && allSettled;
    }
    if (allSettled) settled[automaton.patternOf(longest)] = search;
  }

  /** Finds tags and names. Stops at the first character that is not ASCII, unless the text is folded, and returns whether it came to the end. */
  function searchPatterns(text: string, folded: boolean): boolean {
    let state = 0;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 127 && !folded) return false;
      state = automaton.next(state, unit);
      const match = automaton.match(state);
      if (match !== 0) takeMatches(text, match, index + 1);
    }
    return true;
  }

  /** Calls back with each token of a script without spaces that occurs in the run and is not found yet, word or not. */
  function forEachOccurringWord(text: string, start: number, end: number, visit: (token: number) => void): void {
    let state = 0;
    for (let index = start; index < end; index++) {
      state = automaton.next(state, text.charCodeAt(index));
      for (let match = automaton.match(state); match !== 0; match = automaton.shorterMatch(match)) {
        const token = patternTokens[automaton.patternOf(match)];
        if (token !== undefined && tokenFound[token] !== search) visit(token);
      }
    }
  }

  function searchTokens(text: string): void {
    let segmentedLength = 0;
    scanRuns(text, (start, end, length, unspaced) => {
      if (length >= MIN_TOKEN_LENGTH) takeToken(table.find(text, start, end));
      if (!unspaced || !unspacedWordOccurs) return;
      const occurring: number[] = [];
      forEachOccurringWord(text, start, end, (token) => occurring.push(token));
      if (occurring.length === 0) return;
      segmentedLength += end - start;
      if (segmentedLength > MAX_SEGMENTED_LENGTH) for (const token of occurring) takeToken(token);
      else for (const word of segmentWords(text.slice(start, end))) takeToken(table.find(word, 0, word.length));
    });
  }

  return (text: string): void => {
    const begin = () => {
      search++;
      unspacedWordOccurs = false;
      tally.reset();
    };
    begin();
    let folded = text;
    if (!searchPatterns(text, false)) {
      begin();
      folded = foldNonAscii(text);
      searchPatterns(folded, true);
    }
    searchTokens(folded);
  };
}
