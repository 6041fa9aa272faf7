export interface SearchCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** A cache in one isolate for what costs money to ask again. Entries live for `ttlMs`; of too many the one that was used longest ago goes. */
export function createSearchCache<Value>({
  now,
  ttlMs,
  maxEntries,
}: {
  now: () => number;
  ttlMs: number;
  maxEntries: number;
}): SearchCache<Value> {
  const entries = new Map<string, { value: Value; until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      entries.delete(key);
      if (entry === undefined || entry.until <= now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, { value, until: now() + ttlMs });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
  };
}
