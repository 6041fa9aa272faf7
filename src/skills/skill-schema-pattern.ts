import { parsePattern } from './skill-schema-pattern-parser.ts';
import { type Place, placesOf, TooLarge } from './skill-schema-pattern-places.ts';

const MAX_PATTERN_LENGTH = 512;
const MAX_TRIED_PAIRS = 1_000_000;
/** Longest text that a pattern is tried on. A pattern with many endless repetitions can try as many ways as there are places for them. */
const MAX_TEXT = 10_000;
const MAX_TEXT_OF_MANY = 1_000;
const FEW_REPETITIONS = 2;
/** Characters by which it is judged whether two places of a pattern can match the same. */
const SAMPLE = [
  ...Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code)),
  ...'αΩЖяאبक々あア中文한ก‐–—‘’“”…€\u2028\u3000\ufeff😀',
];

/** Which characters of the sample a place matches, a bit each. */
function sampleBits(source: string): bigint {
  const expression = new RegExp(`^${source}$`, 'u');
  return BigInt(`0b${SAMPLE.map((character) => (expression.test(character) ? '1' : '0')).join('')}`);
}

/** Strongly connected components of what can be reached from some nodes (Tarjan, 1972), without recursion, since graphs of pairs are large. */
function componentsOf(roots: readonly number[], nodeCount: number, next: (node: number) => readonly number[]): Int32Array {
  const component = new Int32Array(nodeCount).fill(-1);
  const order = new Int32Array(nodeCount).fill(-1);
  const low = new Int32Array(nodeCount);
  const open: number[] = [];
  let visited = 0;
  for (const root of roots) {
    if (order[root] !== -1) continue;
    const path = [{ node: root, targets: next(root), at: 0 }];
    order[root] = low[root] = visited++;
    open.push(root);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const { node } = step;
      const target = step.targets[step.at++];
      if (target === undefined) {
        path.pop();
        const parent = path.at(-1)?.node;
        if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
        if (low[node] === order[node]) for (let member = -1; member !== node; component[member] = node) member = open.pop()!;
      } else if (order[target] === -1) {
        order[target] = low[target] = visited++;
        open.push(target);
        path.push({ node: target, targets: next(target), at: 0 });
      } else if (component[target] === -1) {
        low[node] = Math.min(low[node]!, order[target]!);
      }
    }
  }
  return component;
}

/**
 * Whether some text can be matched, from a place back to it, in two ways: then a failing match tries twice as many ways with every repeat
 * (Weber and Seidl, 1991). Two ways are two equal steps, or a pair of places that starts and ends as the same place and parts in between.
 */
function isExponential(places: readonly Place[]): boolean {
  const count = places.length;
  const numbers = new Map(places.map((place, number) => [place, number]));
  const bits = places.map(({ source }) => sampleBits(source));
  const all = [...places.keys()];
  const follow = places.map((place) => [...place.follow].map((next) => numbers.get(next)!));
  const single = componentsOf(all, count, (node) => follow[node]!);
  const repeatsAStep = places.some((place, number) => [...place.followTwice].some((next) => single[numbers.get(next)!] === single[number]));
  if (repeatsAStep) return true;

  let triedPairs = 0;
  const nextPairs = (pair: number): number[] => {
    const left = Math.floor(pair / count);
    const right = pair % count;
    if (single[left] !== single[right]) return [];
    triedPairs += follow[left]!.length * follow[right]!.length;
    if (triedPairs > MAX_TRIED_PAIRS) throw new TooLarge();
    return follow[left]!.flatMap((one) =>
      follow[right]!.filter((other) => (bits[one]! & bits[other]!) !== 0n).map((other) => one * count + other),
    );
  };
  const equalPairs = all.map((number) => number * count + number);
  const pairs = componentsOf(equalPairs, count * count, nextPairs);
  const equal = new Set(equalPairs.map((pair) => pairs[pair]!));
  return pairs.some((component, pair) => component >= 0 && Math.floor(pair / count) !== pair % count && equal.has(component));
}

/** What is wrong with a regular expression of a schema, or undefined. The text that it sees is bounded by the validator. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return `must not be longer than ${MAX_PATTERN_LENGTH} characters`;
  try {
    new RegExp(pattern, 'u');
  } catch {
    return 'must be a regular expression of ECMA-262 with the u flag';
  }
  try {
    return isExponential(placesOf(parsePattern(pattern)))
      ? 'repeats something that can match the same text in several ways, which can take for ever'
      : undefined;
  } catch (error) {
    if (error instanceof TooLarge) return 'is too complex to be checked';
    throw error;
  }
}

/** The longest text that a pattern is tried on. */
export function textLimitOf(pattern: string): number {
  const repetitions = pattern.match(/[*+]|,\}/g)?.length ?? 0;
  return repetitions > FEW_REPETITIONS ? MAX_TEXT_OF_MANY : MAX_TEXT;
}
