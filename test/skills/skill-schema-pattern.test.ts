import { describe, expect, it } from 'vitest';
import { patternFault, textLimitOf } from '../../src/skills/skill-schema-pattern.ts';

const FOR_EVER = 'repeats something that can match the same text in several ways, which can take for ever';

describe('patternFault', () => {
  it.each([
    '^[a-z]+$',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^(?:\\d{1,3}\\.){3}\\d{1,3}$',
    '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$',
    '^(?:%[0-9a-f]{2}|[^%])*$',
    '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
    '^(?:(?!foo).)*$',
    '^(?=.*\\d)(?=.*[a-z]).{8,}$',
    '^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$',
    '(?:\\s*,\\s*\\w+)*',
    '^\\p{L}[\\p{L}\\p{M}]*$',
    '^(?<year>\\d{4})-\\k<year>$',
    '^(?:a|)*$',
    '^#(?:[0-9a-f]{3}){1,2}$',
    '^(?:[^\\]\\\\]|\\\\.)*$',
    '^[\\u{1F600}-\\u{1F64F}😀]+$',
    '(?<=a)b(?<!c)\\b\\B\\x41\\cA\\0',
    '',
  ])('accepts %s', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined();
  });

  it.each([
    '(a+)+',
    '^(a*)*b',
    '([a-z]+-?)*$',
    '(a|a)*',
    '(\\w|\\d)+$',
    '(?:a?b?)*c',
    '(.*)*',
    '(?:\\s*,\\s*)*x',
    '(x+x+)+y',
    '(?:\\w+\\s?)+$',
    '(?=(a+)+$)',
    '(?<n>(?:[ab]+|[bc]+)+)$',
    '((a{4,10}){5,9}){2,}b',
  ])('refuses %s', (pattern) => {
    expect(patternFault(pattern)).toBe(FOR_EVER);
  });

  it.each(['[', '(', '\\', 'a{2,1}', '\\-', '(?<a>x)(?<a>y)', '*'])('refuses %s, which does not compile', (pattern) => {
    expect(patternFault(pattern)).toBe('must be a regular expression of ECMA-262 with the u flag');
  });

  it('refuses what is too large to be judged', () => {
    expect(patternFault('a'.repeat(513))).toBe('must not be longer than 512 characters');
    expect(patternFault('((((a{4}){4}){4}){4})')).toBe('is too complex to be checked');
    expect(patternFault(`(?:${Array.from({ length: 90 }, () => '[ab]').join('|')})*`)).toMatch(/too complex|for ever/);
  });
});

describe('textLimitOf', () => {
  it.each([
    ['^[a-z]+$', 10_000],
    ['^a*b+$', 10_000],
    ['^a*b+c{2,}$', 1_000],
  ])('%s', (pattern, expected) => {
    expect(textLimitOf(pattern)).toBe(expected);
  });
});
