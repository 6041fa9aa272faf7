import { buildAutomaton } from './scoring-automaton.ts';
import type { Finding, ScoringMemory } from './scoring-memory.ts';
import { addSignal, clearTally, type Tally } from './scoring-postings.ts';
import { NONE, type Signals } from './scoring-signals.ts';
import { buildTokenTable } from './scoring-token-table.ts';
import { continuesWord, decodeText, encodeFolded, isContinued, MIN_TOKEN_LENGTH, scanRuns, segmentWords } from './tokenize.ts';

const encoder = new TextEncoder();

/** Of text without spaces, how many bytes of one request are split into words; after that, a word counts wherever it occurs. */
const MAX_SEGMENTED_SIZE = 196_608;

/** Makes a function that puts the points of all that stands in the texts into the tally. Between two texts nothing is found but what holds a line break. */
export function createSearch(
  { tokens, patterns, tagSignals, nameSignals, patternTokens, postings }: Signals,
  tally: Tally,
  memory: ScoringMemory,
): (texts: readonly string[]) => void {
  const automaton = buildAutomaton(patterns);
  const table = buildTokenTable(tokens);
  const patternSizes = Int32Array.from(patterns, (pattern) => encoder.encode(pattern).length);
  const unspacedTokens = new Map(patterns.map((pattern, number) => [pattern, patternTokens[number]!]));
  const crossesTexts = patterns.some((pattern) => pattern.includes('\n'));
  const known = memory.open();
  /** The text in which a signal was found last, and that in which nothing more can come of a pattern. */
  const foundIn = new Uint32Array(postings.everyone.length);
  const settled = new Uint32Array(patterns.length);
  /** The query in which a signal was added last. */
  const addedIn = new Uint32Array(postings.everyone.length);
  let search = 0;
  let query = 0;
  let found: number[] = [];
  let unspacedWordOccurs = false;
  let segmentedSize = 0;

  function take(signal: number): void {
    if (signal === NONE || foundIn[signal] === search) return;
    foundIn[signal] = search;
    found.push(signal);
  }

  /** Returns whether all that a further occurrence could add is added. */
  function takePattern(text: Uint8Array, pattern: number, end: number): boolean {
    take(tagSignals[pattern]!);
    if (patternTokens[pattern] !== NONE) unspacedWordOccurs = true;
    const name = nameSignals[pattern]!;
    if (name === NONE || foundIn[name] === search) return true;
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
        if (token !== NONE && foundIn[token] !== search) inside.push(token);
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

  /** What stands in a text; `segmentedBefore` bytes of the request have been split into words already. */
  function find(text: string, segmentedBefore: number): Finding {
    search++;
    found = [];
    unspacedWordOccurs = false;
    segmentedSize = segmentedBefore;
    const bytes = encodeFolded(text);
    automaton.search(bytes, (longest, end) => {
      if (settled[longest] !== search) takeMatches(bytes, longest, end);
    });
    scanRuns(bytes, (start, end, length, unspaced, hash) => {
      if (length >= MIN_TOKEN_LENGTH) take(table.find(bytes, start, end, hash));
      if (unspaced && unspacedWordOccurs) takeUnspacedWords(bytes.subarray(start, end));
    });
    return { signals: Int32Array.from(found), segmentedSize: segmentedSize - segmentedBefore };
  }

  function recallOrFind(text: string, segmentedBefore: number): Finding {
    const fits = ({ segmentedSize }: Finding) => segmentedBefore + segmentedSize <= MAX_SEGMENTED_SIZE;
    const recalled = known.recall(text);
    if (recalled && fits(recalled)) return recalled;
    const finding = find(text, segmentedBefore);
    if (fits(finding)) known.keep(text, finding);
    return finding;
  }

  return (texts) => {
    query++;
    clearTally(tally);
    let segmented = 0;
    for (const text of crossesTexts ? [texts.join('\n')] : texts) {
      const finding = recallOrFind(text, segmented);
      segmented += finding.segmentedSize;
      for (const signal of finding.signals) {
        if (addedIn[signal] === query) continue;
        addedIn[signal] = query;
        addSignal(tally, postings, signal);
      }
    }
  };
}
