import { describe, expect, it } from 'vitest';
import { similarities } from '../../src/routing-memory/similarity.ts';

const of = (words: string, digests: string[], total = digests.length) =>
  similarities(
    words.split(' '),
    digests.map((digest) => new Set(digest.split(' '))),
    total,
  );

describe('similarities', () => {
  it('are 1 for all of the words and 0 for none', () => {
    expect(of('sort list', ['list sort other', 'other'])).toEqual([1, 0]);
  });

  it('count a rare word for more', () => {
    const [rare, common] = of('sort zebra', ['zebra', 'sort', 'sort', 'sort'], 100);
    expect(rare).toBeGreaterThan(common as number);
  });

  it('count words that nothing has as the others on average', () => {
    expect(of('sort unheard', ['sort'])).toEqual([0.5]);
  });

  it('are nothing where there is nothing', () => {
    expect(of('sort', [])).toEqual([]);
    expect(similarities([], [new Set(['sort'])], 1)).toEqual([0]);
  });
});
