import { buildAutomaton } from './scoring-automaton.ts';
import { addSignal, clearTally, type Tally } from './scoring-postings.ts';
import { NONE, type Signals } from './scoring-signals.ts';
import { buildTokenTable } from './scoring-token-table.ts';
import { continuesWord, decodeText, encodeFolded, isContinued, MIN_TOKEN_LENGTH, scanRuns, segmentWords } from './tokenize.ts';

const encoder = new TextEncoder();

/** Of text without spaces, how many bytes of one request are split into words; after that, a word counts wherever it occurs. */
const MAX_SEGMENTED_SIZE = 196_608;

/** Makes a function that puts the points of all that stands in a text into the tally. */
export function createSearch({ tokens, patterns, tagSignals, nameSignals, patternTokens, postings }: Signals, tally: Tally) {
  const automaton = buildAutomaton(patterns);
  const table = buildTokenTable(tokens);
  const patternSizes = Int32Array.from(patterns, (pattern) => encoder.encode(pattern).length);
  const unspacedTokens = new Map(patterns.map((pattern, number) => [pattern, patternTokens[number]!]));
  /** The search in which a signal was added last, and that in which nothing more can come of a pattern. */
  const added = new Uint32Array(postings.everyone.length);
  const settled = new Uint32Array(patterns.length);
  let search = 0;
  let unspacedWordOccurs = false;
  let segmentedSize = 0;

  function take(signal: number): void {
    if (signal === NONE || added[signal] === search) return;
    added[signal] = search;
    addSignal(tally, postings, signal);
  }

  /** Returns whether all that a further occurrence could add is added. */
  function takePattern(text: Uint8Array, pattern: number, end: number): boolean {
    take(tagSignals[pattern]!);
    if (patternTokens[pattern] !== NONE) unspacedWordOccurs = true;
    const name = nameSignals[pattern]!;
    if (name === NONE || added[name] === search) return true;
    if (continuesWord(text, end - patternSizes[pattern]!) || isContinued(text, end)) return false;
    take(name);
    return true;
  }

  function takeMatches(text: Uint8Array, longest: number, end: number): void {
    let allSettled = true;
    for (let pattern = longest; pattern >= 0 && settled[pattern] !== search; pattern = automaton.suffixOf(pattern)) {
      allSettled = takePattern(text, pattern, end) && allSettled;
    }
    if (allSettled) settled[longest] = search;
  }

  /** The tokens of a script without spaces that occur in a run and are not found yet, be they words in it or not. */
  function tokensInside(run: Uint8Array): number[] {
    const inside: number[] = [];
    automaton.search(run, (longest) => {
      for (let pattern = longest; pattern >= 0; pattern = automaton.suffixOf(pattern)) {
        const token = patternTokens[pattern]!;
        if (token !== NONE && added[token] !== search) inside.push(token);
      }
    });
    return inside;
  }

  function takeUnspacedWords(run: Uint8Array): void {
    const inside = tokensInside(run);
    if (inside.length === 0) return;
    segmentedSize += run.length;
    if (segmentedSize > MAX_SEGMENTED_SIZE) for (const token of inside) take(token);
    else for (const word of segmentWords(decodeText(run))) take(unspacedTokens.get(word) ?? NONE);
  }

  return (text: string): void => {
    search++;
    clearTally(tally);
    unspacedWordOccurs = false;
    segmentedSize = 0;
    const bytes = encodeFolded(text);
    automaton.search(bytes, (longest, end) => {
      if (settled[longest] !== search) takeMatches(bytes, longest, end);
    });
    scanRuns(bytes, (start, end, length, unspaced, hash) => {
      if (length >= MIN_TOKEN_LENGTH) take(table.find(bytes, start, end, hash));
      if (unspaced && unspacedWordOccurs) takeUnspacedWords(bytes.subarray(start, end));
    });
  };
}
