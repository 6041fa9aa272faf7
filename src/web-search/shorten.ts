/** The text up to a limit of UTF-16 units, never cut inside a character; what was cut ends in an ellipsis. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The words of a query that fit into a provider's limits; a word that is too long by itself is cut. */
export function fitQuery(
  query: string,
  { maxLength, maxWords = Number.POSITIVE_INFINITY }: { maxLength: number; maxWords?: number },
): string {
  const words = query.split(/\s+/).slice(0, maxWords);
  let fitting = words[0]?.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '') ?? '';
  for (const word of words.slice(1)) {
    if (fitting.length + 1 + word.length > maxLength) break;
    fitting += ` ${word}`;
  }
  return fitting;
}
