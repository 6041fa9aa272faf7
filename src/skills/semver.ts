import maxSatisfying from 'semver/ranges/max-satisfying.js';

const MAX_CONSTRAINT_LENGTH = 256;

/** `==` where a comparator stands: alone, not as a part of `>==` or `===`. */
const DOUBLE_EQUALS = /(?<![<>=~^])==(?!=)/g;

/** As npm reads it; ours may have leading zeros. */
const plainVersion = (version: string): string => version.replace(/(^|\.)0+(?=\d)/g, '$1');

/**
 * Of the candidates the one with the highest version that the constraint allows, in npm's semantics; `==1.2.3` is `=1.2.3`, and `latest` is `*`.
 * Undefined when none fits, or the constraint is none.
 */
export function resolveVersion<Candidate extends { version: string }>(
  candidates: readonly Candidate[],
  constraint: string,
): Candidate | undefined {
  const asked = constraint.trim();
  if (asked.length > MAX_CONSTRAINT_LENGTH) return undefined;
  const spelled = asked.replace(/^={1,2}\s*/, '');
  const exact = candidates.find(({ version }) => version === spelled);
  if (exact !== undefined) return exact;
  const versions = candidates.map(({ version }) => plainVersion(version));
  const highest = maxSatisfying(versions, asked === 'latest' ? '*' : asked.replace(DOUBLE_EQUALS, '='));
  return highest === null ? undefined : candidates[versions.indexOf(highest)];
}
