import maxSatisfying from 'semver/ranges/max-satisfying.js';

const MAX_CONSTRAINT_LENGTH = 256;

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
  const exact = candidates.find(({ version }) => version === asked);
  if (exact !== undefined) return exact;
  const versions = candidates.map(({ version }) => version);
  // Loose, since our versions may have leading zeros.
  const highest = maxSatisfying(versions, asked === 'latest' ? '*' : asked.replaceAll('==', '='), { loose: true });
  return candidates.find(({ version }) => version === highest);
}
