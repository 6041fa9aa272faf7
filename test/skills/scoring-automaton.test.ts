import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAutomaton } from '../../src/skills/scoring-automaton.ts';

const encoder = new TextEncoder();

/** Every occurrence as `pattern@end in bytes`, by the automaton. */
function occurrences(patterns: readonly string[], text: string): string[] {
  const automaton = buildAutomaton(patterns);
  const found: string[] = [];
  automaton.search(encoder.encode(text), (longest, end) => {
    let previous = Number.POSITIVE_INFINITY;
    for (let pattern = longest; pattern >= 0; pattern = automaton.suffixOf(pattern)) {
      expect(patterns[pattern]!.length).toBeLessThan(previous);
      previous = patterns[pattern]!.length;
      found.push(`${patterns[pattern]}@${end}`);
    }
  });
  return found.sort();
}

/** The same by looking for one pattern after the other. */
function plainOccurrences(patterns: readonly string[], text: string): string[] {
  const found: string[] = [];
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  for (const pattern of patterns) {
    for (let at = lower.indexOf(pattern); at >= 0; at = lower.indexOf(pattern, at + 1)) {
      found.push(`${pattern}@${encoder.encode(lower.slice(0, at + pattern.length)).length}`);
    }
  }
  return found.sort();
}

describe('buildAutomaton', () => {
  it('finds patterns that overlap, contain each other and repeat, in any ASCII case', () => {
    expect(occurrences(['he', 'she', 'his', 'hers', 'e'], 'usHErs')).toEqual(['e@4', 'he@4', 'hers@6', 'she@4']);
    expect(occurrences(['a', 'aa'], 'aaa')).toEqual(['a@1', 'a@2', 'a@3', 'aa@2', 'aa@3']);
    expect(occurrences(['é', 'née'], 'née')).toEqual(['née@4', 'é@3']);
    expect(occurrences([], 'text')).toEqual([]);
    expect(occurrences(['text'], '')).toEqual([]);
  });

  it('finds what a plain search finds', () => {
    const piece = fc.constantFrom('a', 'b', 'c', 'é', '文', '-');
    const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    const text = fc.array(fc.oneof(piece, fc.constantFrom('A', 'B', 'x', ' ')), { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { maxLength: 20 }), text, (patterns, given) => {
        expect(occurrences(patterns, given)).toEqual(plainOccurrences(patterns, given));
      }),
    );
  });

  it('finds the same with more states than have room for rows', () => {
    let state = 1;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % below;
    };
    const letters = 'aaaabbbcdefghijklmnopqrstuvwxyz0123456789é文-';
    const word = (length: number) => Array.from({ length }, () => letters[random(letters.length)]).join('');
    const patterns = [...new Set(Array.from({ length: 4_000 }, () => word(1 + random(14))))];
    const pieces = Array.from({ length: 3_000 }, () => (random(2) === 0 ? word(random(6)) : patterns[random(patterns.length)]));
    const text = pieces.join('').slice(0, 20_000);
    expect(patterns.join('').length).toBeGreaterThan(20_000);
    expect(occurrences(patterns, text)).toEqual(plainOccurrences(patterns, text));
  });
});
