import { describe, expect, it } from 'vitest';
import { nextVersion } from '../../src/marketplaces/next-version.ts';

const URL = 'https://raw.example/SKILL.md';
const owned = (...versions: string[]) =>
  versions.map((version) => ({ name: 'x', version, sourceUrl: URL, contentSha256: `sha of ${version}` }));
const file = (version?: string, contentSha256 = 'new') => ({ name: 'x', version, sourceUrl: URL, contentSha256 });

describe('nextVersion', () => {
  it.each([
    [[], undefined, '1.0.0'],
    [[], '0.3.0', '0.3.0'],
    [['1.0.0'], undefined, '1.0.1'],
    [['1.0.0'], '1.0.0', '1.0.1'],
    [['1.0.0'], '2.0.0', '2.0.0'],
    [['1.9.0', '1.10.0', '1.2.0'], undefined, '1.10.1'],
    [['2.0.0'], '1.5.0', '2.0.1'],
  ])('beside %j the version %j becomes %j', (versions, stated, next) => {
    expect(nextVersion(owned(...versions), file(stated))).toBe(next);
  });

  it('knows content that is installed, under any version', () => {
    expect(() => nextVersion(owned('1.0.0', '2.0.0'), file('3.0.0', 'sha of 1.0.0'))).toThrow(
      'x@1.0.0 is installed already, with the same content',
    );
  });

  it('leaves a name to who has it', () => {
    const local = { name: 'x', version: '99999999999999999999.0.0', sourceUrl: null, contentSha256: null };
    expect(() => nextVersion([local], file('2.0.0'))).toThrow('A skill named x is installed already. Delete it first.');
  });
});
