/**
 * Finds every occurrence of many patterns in one pass over a text (Aho and Corasick, 1975). States are numbered so that the first child of
 * a state is the next number: the long tails of patterns, which have no branches, lie side by side in memory.
 */
export interface Automaton {
  /** The state after one more code unit; the search starts in state 0. ASCII letters of the text count as lower-case. */
  next(state: number, unit: number): number;
  /** The longest pattern that ends here, as a state to ask about, else 0. */
  match(state: number): number;
  /** The next shorter pattern that ends at the same place, as `match` gives it. */
  shorterMatch(state: number): number;
  /** The number of the pattern that a matching state stands for: its place in the list. */
  patternOf(state: number): number;
}

/** With more children than this a state gets a row of its own, in which one look-up finds the next state for every symbol. */
const MAX_LISTED_CHILDREN = 3;
/** Room for rows, 1 MiB; the states nearest to the start get them, and the rest look through their children. */
const MAX_ROW_ENTRIES = 262_144;

interface Trie {
  size: number;
  symbols: Int32Array;
  /** The next child of the same parent, or 0. The first child of state `s`, if it has one, is `s + 1`. */
  siblings: Int32Array;
  parents: Int32Array;
  childCounts: Int32Array;
  /** The pattern that ends in a state, plus 1. */
  patternOf: Int32Array;
}

function commonPrefixLength(first: string, second: string): number {
  let length = 0;
  while (length < first.length && length < second.length && first.charCodeAt(length) === second.charCodeAt(length)) length++;
  return length;
}

function buildTrie(patterns: readonly string[], symbolOf: Uint16Array): Trie {
  const capacity = patterns.reduce((sum, pattern) => sum + pattern.length, 1);
  const numbers = patterns.map((_, number) => number).sort((first, second) => (patterns[first]! < patterns[second]! ? -1 : 1));
  const trie: Trie = {
    size: 1,
    symbols: new Int32Array(capacity),
    siblings: new Int32Array(capacity),
    parents: new Int32Array(capacity),
    childCounts: new Int32Array(capacity),
    patternOf: new Int32Array(capacity),
  };
  const lastChild = new Int32Array(capacity);
  const path = [0];
  let previous = '';
  for (const number of numbers) {
    const pattern = patterns[number]!;
    const shared = commonPrefixLength(previous, pattern);
    path.length = shared + 1;
    for (let depth = shared; depth < pattern.length; depth++) {
      const parent = path[depth]!;
      const state = trie.size++;
      trie.symbols[state] = symbolOf[pattern.charCodeAt(depth)]!;
      trie.parents[state] = parent;
      if (trie.childCounts[parent]! > 0) trie.siblings[lastChild[parent]!] = state;
      trie.childCounts[parent] = trie.childCounts[parent]! + 1;
      lastChild[parent] = state;
      path.push(state);
    }
    trie.patternOf[path[pattern.length]!] = number + 1;
    previous = pattern;
  }
  return trie;
}

/** Numbers the code units that occur in patterns from 1; an upper-case ASCII letter shares the number of the lower-case one. */
function numberSymbols(patterns: readonly string[]): { symbolOf: Uint16Array; count: number } {
  const symbolOf = new Uint16Array(0x10000);
  let count = 1;
  for (const pattern of patterns) {
    for (let index = 0; index < pattern.length; index++) {
      const unit = pattern.charCodeAt(index);
      if (symbolOf[unit] === 0) symbolOf[unit] = count++;
    }
  }
  for (let upper = 65; upper <= 90; upper++) symbolOf[upper] = symbolOf[upper + 32]!;
  return { symbolOf, count };
}

/** The states in the order of their depth, without the root. */
function breadthFirst({ size, childCounts, siblings }: Trie): Int32Array {
  const order = new Int32Array(size);
  let filled = 1;
  for (const state of order) {
    if (childCounts[state] === 0) continue;
    for (let child = state + 1; child !== 0; child = siblings[child]!) order[filled++] = child;
  }
  return order.subarray(1);
}

/** Patterns are folded, distinct and not empty. Time and memory grow with their total length. */
export function buildAutomaton(patterns: readonly string[]): Automaton {
  const { symbolOf, count } = numberSymbols(patterns);
  const trie = buildTrie(patterns, symbolOf);
  const { size, symbols, siblings, parents, childCounts, patternOf } = trie;
  const failures = new Int32Array(size);
  const matches = new Int32Array(size);
  /** Where the row of a state starts in `rows`, else -1. A row has the answer for every symbol, failures included. */
  const rowOf = new Int32Array(size).fill(-1);
  const rows = new Int32Array(count * Math.max(1, Math.floor(MAX_ROW_ENTRIES / count)));

  const follow = (from: number, symbol: number): number => {
    for (let state = from; ; state = failures[state]!) {
      const row = rowOf[state]!;
      if (row >= 0) return rows[row + symbol]!;
      if (childCounts[state] === 0) continue;
      for (let child = state + 1; child !== 0; child = siblings[child]!) if (symbols[child] === symbol) return child;
    }
  };
  const fillRow = (state: number, row: number): void => {
    if (state !== 0) for (let symbol = 1; symbol < count; symbol++) rows[row + symbol] = follow(failures[state]!, symbol);
    if (childCounts[state]! > 0) for (let child = state + 1; child !== 0; child = siblings[child]!) rows[row + symbols[child]!] = child;
    rowOf[state] = row;
  };

  fillRow(0, 0);
  let rowEnd = count;
  for (const state of breadthFirst(trie)) {
    const parent = parents[state]!;
    if (parent !== 0) failures[state] = follow(failures[parent]!, symbols[state]!);
    matches[state] = patternOf[state]! > 0 ? state : matches[failures[state]!]!;
    if (childCounts[state]! > MAX_LISTED_CHILDREN && rowEnd + count <= rows.length) {
      fillRow(state, rowEnd);
      rowEnd += count;
    }
  }

  return {
    next: (state, unit) => {
      const symbol = symbolOf[unit]!;
      return symbol === 0 ? 0 : follow(state, symbol);
    },
    match: (state) => matches[state]!,
    shorterMatch: (state) => matches[failures[state]!]!,
    patternOf: (state) => patternOf[state]! - 1,
  };
}
