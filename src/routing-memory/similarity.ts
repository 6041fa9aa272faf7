/**
 * How much of the wanted words each digest has, 0 to 1: the sum of their weights over the sum of all. A word weighs more the rarer it is among
 * the `total` digests that there are (the inverse document frequency of BM25, and 1); one that is in none of them weighs as the others do on
 * average. The full-text index ranks by how rare words are among all keys, which no number that a key gets to see may tell; so these are
 * computed from its own.
 */
export function similarities(words: readonly string[], digests: readonly ReadonlySet<string>[], total: number): number[] {
  const weights = new Map<string, number>();
  for (const word of words) {
    const frequency = digests.filter((digest) => digest.has(word)).length;
    if (frequency > 0) weights.set(word, 1 + Math.log(1 + (Math.max(total, frequency) - frequency + 0.5) / (frequency + 0.5)));
  }
  const known = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const all = (known * words.length) / weights.size;
  return digests.map((digest) => {
    let shared = 0;
    for (const [word, weight] of weights) if (digest.has(word)) shared += weight;
    return shared === 0 ? 0 : shared / all;
  });
}
