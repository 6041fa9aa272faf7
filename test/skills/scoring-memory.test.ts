import { describe, expect, it } from 'vitest';
import { createScoringMemory, type Finding } from '../../src/skills/scoring-memory.ts';

const finding = (signal: number): Finding => ({ signals: Int32Array.of(signal), segmentedSize: 0 });
const text = (letter: string, length = 200): string => letter.repeat(length);

describe('createScoringMemory', () => {
  it('gives back what was found in a text, to the search that found it', () => {
    const memory = createScoringMemory();
    const [one, other] = [memory.open(), memory.open()];
    one.keep(text('a'), finding(1));
    other.keep(text('a'), finding(2));
    expect([one.recall(text('a')), other.recall(text('a')), one.recall(text('b'))]).toEqual([finding(1), finding(2), undefined]);
  });

  it('forgets the oldest texts of all searches when there are too many characters', () => {
    const memory = createScoringMemory(500);
    const [one, other] = [memory.open(), memory.open()];
    one.keep(text('a'), finding(1));
    other.keep(text('b'), finding(2));
    one.keep(text('c'), finding(3));
    expect([one.recall(text('a')), other.recall(text('b')), one.recall(text('c'))]).toEqual([undefined, finding(2), finding(3)]);
  });

  it('counts a text once, however often it is kept', () => {
    const known = createScoringMemory(500).open();
    known.keep(text('a'), finding(1));
    for (let time = 0; time < 5; time++) known.keep(text('b'), finding(2));
    expect(known.recall(text('a'))).toEqual(finding(1));
  });

  it.each([
    ['short', 100],
    ['longer than all that may be kept', 501],
  ])('does not keep a text that is %s', (_, length) => {
    const known = createScoringMemory(500).open();
    known.keep(text('a'), finding(1));
    known.keep(text('b', length), finding(2));
    expect([known.recall(text('a')), known.recall(text('b', length))]).toEqual([finding(1), undefined]);
  });
});
