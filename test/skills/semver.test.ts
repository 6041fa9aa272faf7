import fc from 'fast-check';
import semver from 'semver';
import { describe, expect, it } from 'vitest';
import { resolveVersion } from '../../src/skills/semver.ts';

const resolve = (versions: readonly string[], constraint: string) =>
  resolveVersion(
    versions.map((version) => ({ version })),
    constraint,
  )?.version;

const VERSIONS = ['1.0.0', '0.9.0', '1.2.3', '2.0.0', '1.10.0', '10.0.0', '0.0.3', '0.2.5'];

describe('resolveVersion', () => {
  it.each([
    ['1.2.3', '1.2.3'],
    ['=1.2.3', '1.2.3'],
    ['==1.2.3', '1.2.3'],
    ['== 1.2.3', '1.2.3'],
    ['v1.2.3', '1.2.3'],
    ['^1.0.0', '1.10.0'],
    ['^1', '1.10.0'],
    ['^0.2.0', '0.2.5'],
    ['^0.0.3', '0.0.3'],
    ['~1.2.0', '1.2.3'],
    ['>1.2.3', '10.0.0'],
    ['>=1.2.3 <2', '1.10.0'],
    ['<1.0.0', '0.9.0'],
    ['<=1.0.0', '1.0.0'],
    ['1.x', '1.10.0'],
    ['1', '1.10.0'],
    ['1.2.*', '1.2.3'],
    ['1.0.0 - 1.5.0', '1.2.3'],
    ['^5 || ~1.2', '1.2.3'],
    ['*', '10.0.0'],
    ['latest', '10.0.0'],
    [' latest ', '10.0.0'],
    ['3.0.0', undefined],
    ['>10', undefined],
    ['newest', undefined],
    ['^^1', undefined],
    ['not a version', undefined],
    ['1.2.3.4', undefined],
    ['', '10.0.0'],
    ['1.2.3-beta', undefined],
    ['^1.2.3-beta', '1.10.0'],
    ['^1.2.3beta', undefined],
    ['>==1.2.3', undefined],
    ['===1.2.3', undefined],
    ['==1.2', '1.2.3'],
    ['==0.9.0 || == 1.0.0', '1.0.0'],
    ['~1.2||^0.2', '1.2.3'],
    ['^1 ||| 2', undefined],
    ['1.2.3 -2.0.0', undefined],
    ['1.0.0 -', undefined],
    ['>', undefined],
    ['latest || 1', undefined],
    ['\t>=\n1.2.3  <1.10.0 ', '1.2.3'],
    ['1.2.3+build', '1.2.3'],
    ['99999999999999999999', undefined],
    [`${'1 || '.repeat(1_000)}1`, undefined],
  ])('%s gives %s', (constraint, version) => {
    expect(resolve(VERSIONS, constraint)).toBe(version);
  });

  it('finds none among none', () => {
    expect(resolve([], '*')).toBeUndefined();
  });

  it('reads versions with leading zeros', () => {
    expect(resolve(['01.0.0', '02.10.0', '2.9.0'], '*')).toBe('02.10.0');
    expect(resolve(['01.0.0', '1.0.0'], '01.0.0')).toBe('01.0.0');
    expect(resolve(['1.0.0', '01.0.0'], '==01.0.0')).toBe('01.0.0');
    expect(resolve(['0.0.00', '00.1.0'], '^0.1')).toBe('00.1.0');
    expect(resolve(['01.0.0'], '^01')).toBeUndefined();
  });

  it('gives a version that is larger than any number only when it is asked for as it stands', () => {
    const large = `${'9'.repeat(90)}.0.0`;
    expect(resolve([large, '1.0.0'], '*')).toBe('1.0.0');
    expect(resolve([large], 'latest')).toBeUndefined();
    expect(resolve([large, '1.0.0'], large)).toBe(large);
  });

  it('gives the candidate itself, the first of equals', () => {
    const [first, second] = [
      { version: '1.0.0', id: 'own' },
      { version: '1.0.0', id: 'system' },
    ];
    expect(resolveVersion([first, second], '^1')).toBe(first);
    expect(resolveVersion([first, second], '1.0.0')).toBe(first);
  });
});

const part = fc.integer({ min: 0, max: 4 });
const version = fc.tuple(part, part, part).map((parts) => parts.join('.'));
const partial = fc.oneof(
  version,
  fc.tuple(part, part).map((parts) => parts.join('.')),
  part.map(String),
  part.map((major) => `${major}.x`),
);
const comparator = fc.tuple(fc.constantFrom('', '=', '^', '~', '>', '>=', '<', '<='), partial).map((parts) => parts.join(''));
const constraint = fc.oneof(
  comparator,
  fc.tuple(comparator, comparator).map((parts) => parts.join(' ')),
  fc.tuple(comparator, comparator).map((parts) => parts.join(' || ')),
  fc.tuple(version, version).map((parts) => parts.join(' - ')),
  fc.constant('*'),
);

/** What people and models come to write: pieces of constraints in any order. */
const soup = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: partial },
      fc.constantFrom('<', '>', '<=', '>=', '^', '~', '~>', '=', 'v', ' ', ' - ', '-', '||', ' || ', '|', ',', '.', '*', 'x', '\t'),
      fc.constantFrom('-beta', '-rc.1', 'beta', '+build', '-0', 'latest', '00', '!', '(1)'),
    ),
    { maxLength: 7 },
  )
  .map((pieces) => pieces.join(''))
  .filter((asked) => !asked.includes('==') && asked.trim() !== 'latest');

describe('resolveVersion, for any versions', () => {
  it('agrees with npm for whatever is taken for a constraint', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 12 }), soup, (versions, asked) => {
        expect(resolve(versions, asked) ?? null).toBe(semver.maxSatisfying(versions, asked));
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with npm for every constraint', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 12 }), constraint, (versions, asked) => {
        expect(resolve(versions, asked) ?? null).toBe(semver.maxSatisfying(versions, asked));
      }),
    );
  });

  it('takes == for =', () => {
    fc.assert(
      fc.property(fc.array(version), partial, (versions, asked) => {
        expect(resolve(versions, `==${asked}`)).toBe(resolve(versions, `=${asked}`));
      }),
    );
  });

  it('gives the highest of all for latest, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(version, { minLength: 1 }), (versions) => {
        expect(resolve(versions, 'latest')).toBe(semver.sort([...versions]).at(-1));
      }),
    );
  });

  it('never throws and never gives what was not there', () => {
    fc.assert(
      fc.property(fc.array(version), fc.string({ unit: 'grapheme' }), (versions, asked) => {
        const found = resolve(versions, asked);
        expect(found === undefined || versions.includes(found)).toBe(true);
      }),
    );
  });
});
