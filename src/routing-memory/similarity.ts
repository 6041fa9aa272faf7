/**
 * How much of the wanted words each digest has, 0 to 1: the sum of their weights over the sum of all, where a word weighs as much as it is
 * rare among these very digests (the inverse document frequency of BM25). The full-text index ranks by how rare words are among all keys,
 * which no number that a key gets to see may tell; so these are computed from its own.
 */
export function similarities(words: readonly string[], digests: readonly ReadonlySet<string>[]): number[] {
  const weights = new Map(
    words.map((word) => {
      const frequency = digests.filter((digest) => digest.has(word)).length;
      return [word, Math.log(1 + (digests.length - frequency + 0.5) / (frequency + 0.5))];
    }),
  );
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return digests.map((digest) => {
    let shared = 0;
    for (const [word, weight] of weights) if (digest.has(word)) shared += weight;
    return all === 0 ? 0 : shared / all;
  });
}
