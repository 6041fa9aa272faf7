/**
 * Finds every occurrence of many patterns in one pass over a text (Aho and Corasick, 1975). States are numbered so that the first child of
 * a state is the next number: the long tails of patterns, which have no branches, lie side by side in memory.
 */
export interface Automaton {
  /** Visits the places in a text behind which patterns end, with the longest of them. ASCII letters of the text count as lower-case. */
  search(text: Uint8Array, visit: (pattern: number, end: number) => void): void;
  /** The longest pattern that is a proper suffix of a pattern, else -1. */
  suffixOf(pattern: number): number;
}

/** Room for rows, 512 KiB: the states that lead to most others get one, the rest look through their children. */
const MAX_ROW_ENTRIES = 131_072;

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

function commonPrefixLength(first: Uint8Array, second: Uint8Array): number {
  let length = 0;
  while (length < first.length && length < second.length && first[length] === second[length]) length++;
  return length;
}

function buildTrie(patterns: readonly string[], encoded: readonly Uint8Array[], symbolOf: Uint8Array): Trie {
  const capacity = encoded.reduce((sum, pattern) => sum + pattern.length, 1);
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
  let previous: Uint8Array = new Uint8Array();
  for (const number of numbers) {
    const pattern = encoded[number]!;
    const shared = commonPrefixLength(previous, pattern);
    path.length = shared + 1;
    for (let depth = shared; depth < pattern.length; depth++) {
      const parent = path[depth]!;
      const state = trie.size++;
      trie.symbols[state] = symbolOf[pattern[depth]!]!;
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

/** Numbers the bytes that occur in patterns from 1; an upper-case ASCII letter shares the number of the lower-case one. */
function numberSymbols(patterns: readonly Uint8Array[]): { symbolOf: Uint8Array; count: number } {
  const symbolOf = new Uint8Array(256);
  let count = 1;
  for (const pattern of patterns) for (const byte of pattern) if (symbolOf[byte] === 0) symbolOf[byte] = count++;
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

/** Bits of a state as the search holds it: whether it has a row, which then stands in place of its number, and whether a pattern ends there. */
const HAS_ROW = 1;
const HAS_MATCH = 2;
const FLAG_BITS = 2;

/** Chooses the states that get a row, the root among them: those below which most states lie, since a text comes by there most often. */
function chooseRows({ size, parents }: Trie, maxRows: number): Uint8Array {
  const below = new Int32Array(size);
  for (let state = size - 1; state > 0; state--) below[parents[state]!] = below[parents[state]!]! + below[state]! + 1;
  const least = size <= maxRows ? -1 : below.toSorted().at(-maxRows)!;
  return Uint8Array.from(below, (count, state) => (state === 0 || count > least ? 1 : 0));
}

/** Patterns are folded, distinct and not empty. Time and memory grow with their total length. */
export function buildAutomaton(patterns: readonly string[]): Automaton {
  const encoder = new TextEncoder();
  const encoded = patterns.map((pattern) => encoder.encode(pattern));
  const { symbolOf, count } = numberSymbols(encoded);
  const trie = buildTrie(patterns, encoded, symbolOf);
  const { size, symbols, siblings, parents, childCounts, patternOf } = trie;
  /** Each state with its flags, as rows and failures hold it. */
  const marked = new Int32Array(size);
  const failures = new Int32Array(size);
  const depths = new Int32Array(size);
  /** Per state, the longest pattern that ends in it, and per pattern the next shorter one; -1 for none. */
  const longest = new Int32Array(size).fill(-1);
  const suffixes = new Int32Array(patterns.length).fill(-1);
  /** A row has the next state for every symbol, failures included, and at last the number of its state. */
  const rowLength = count + 1;
  const hasRow = chooseRows(trie, Math.floor(MAX_ROW_ENTRIES / rowLength));
  const rows = new Int32Array(rowLength * hasRow.reduce((sum, each) => sum + each, 0));

  const follow = (from: number, symbol: number): number => {
    for (let state = from; ; ) {
      if ((state & HAS_ROW) !== 0) return rows[(state >> FLAG_BITS) + symbol]!;
      const number = state >> FLAG_BITS;
      if (childCounts[number]! > 0) {
        for (let child = number + 1; child !== 0; child = siblings[child]!) if (symbols[child] === symbol) return marked[child]!;
      }
      state = failures[number]!;
    }
  };

  let rowEnd = 0;
  const reserveRow = (): number => {
    rowEnd += rowLength;
    return rowEnd - rowLength;
  };
  const numberOf = (state: number): number => ((state & HAS_ROW) !== 0 ? rows[(state >> FLAG_BITS) + count]! : state >> FLAG_BITS);
  /** Children are entered later, when their own flags are known. */
  const fillRow = (number: number): void => {
    const row = marked[number]! >> FLAG_BITS;
    for (let symbol = 1; symbol < count; symbol++) rows[row + symbol] = follow(failures[number]!, symbol);
    rows[row] = root;
    rows[row + count] = number;
  };

  const root = (reserveRow() << FLAG_BITS) | HAS_ROW;
  marked[0] = root;
  rows.fill(root, 0, count);
  let depth = 0;
  let unfilled: number[] = [];
  for (const number of breadthFirst(trie)) {
    const parent = parents[number]!;
    depths[number] = depths[parent]! + 1;
    if (depths[number] !== depth) {
      // A row repeats what failures lead to, which is no deeper than its own state, so a level waits until it is known as a whole.
      unfilled.forEach(fillRow);
      unfilled = [];
      depth = depths[number];
    }
    failures[number] = parent === 0 ? root : follow(failures[parent]!, symbols[number]!);
    const shorter = longest[numberOf(failures[number])]!;
    const pattern = patternOf[number]! - 1;
    if (pattern >= 0) suffixes[pattern] = shorter;
    longest[number] = pattern >= 0 ? pattern : shorter;
    if (hasRow[number] === 1) unfilled.push(number);
    marked[number] =
      ((hasRow[number] === 1 ? reserveRow() : number) << FLAG_BITS) |
      (hasRow[number] === 1 ? HAS_ROW : 0) |
      (longest[number] >= 0 ? HAS_MATCH : 0);
    if ((marked[parent]! & HAS_ROW) !== 0) rows[(marked[parent]! >> FLAG_BITS) + symbols[number]!] = marked[number];
  }
  unfilled.forEach(fillRow);

  return {
    search(text, visit) {
      let state = root;
      for (let index = 0; index < text.length; index++) {
        const symbol = symbolOf[text[index]!]!;
        if ((state & HAS_ROW) !== 0) state = rows[(state >> FLAG_BITS) + symbol]!;
        else state = symbol === 0 ? root : follow(state, symbol);
        if ((state & HAS_MATCH) !== 0) visit(longest[numberOf(state)]!, index + 1);
      }
    },
    suffixOf: (pattern) => suffixes[pattern]!,
  };
}
