import { describe, expect, it } from 'vitest';
import { fitDescription, fitSkillName, fitTags, fitVersion } from '../../src/marketplaces/fit-fields.ts';

describe('fitSkillName', () => {
  it.each([
    ['pdf', 'pdf'],
    ['My Skill: PDF & co', 'My-Skill-PDF-co'],
    ['Éclair — v2', 'Eclair-v2'],
    ['../../etc/passwd', 'etc-passwd'],
    ['a/b@1.0.0', 'a-b-1.0.0'],
    ['_x_', 'x'],
    ['.-x', 'x'],
    ['Grüße 天気', 'Gru-e'],
  ])('%j is %j', (text, name) => {
    expect(fitSkillName(text)).toBe(name);
  });

  it('cuts what is too long', () => {
    expect(fitSkillName('x'.repeat(101))).toBe('x'.repeat(100));
    expect(fitSkillName(`${'x'.repeat(99)}--y`)).toBe('x'.repeat(99));
  });

  it.each(['', '天気', '---', '...', '  '])('nothing is left of %j', (text) => {
    expect(fitSkillName(text)).toBeUndefined();
  });
});

describe('fitDescription', () => {
  it.each([
    [' a\n b\t\0c ', 'a b c'],
    ['x\ud800y', 'x\ufffdy'],
    ['x'.repeat(1_024), 'x'.repeat(1_024)],
    ['🧾'.repeat(1_025), `${'🧾'.repeat(1_023)}…`],
  ])('%#', (text, description) => {
    expect(fitDescription(text)).toBe(description);
  });
});

describe('fitTags', () => {
  it('folds them, each once, and leaves out those that would fit any request', () => {
    expect(fitTags(['PDF', 'pdf', ' Data  Science ', 'a', 'is', 'the', 'and', 'x'.repeat(65), '', 'ＧＰＴ'])).toEqual([
      'pdf',
      'data science',
      'gpt',
    ]);
  });

  it('takes 20 at most', () => {
    expect(fitTags(Array.from({ length: 50 }, (_, number) => `tag${number}`))).toHaveLength(20);
  });
});

describe('fitVersion', () => {
  it.each([
    ['1.2.3', '1.2.3'],
    ['v2.1', '2.1.0'],
    ['3', '3.0.0'],
    ['1.10', '1.10.0'],
    ['1.2.3-beta.1', '1.2.3'],
    ['01.02.03', '1.2.3'],
    ['1.2.3.4', '1.2.3'],
    ['', undefined],
    ['latest', undefined],
    ['1234567890', undefined],
    ['0.0.9007199254740991', undefined],
  ])('%j is %j', (text, version) => {
    expect(fitVersion(text)).toBe(version);
  });
});
