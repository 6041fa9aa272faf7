/** Keeps work alive beyond the request that began it. */
export type WaitUntil = (work: Promise<unknown>) => void;

export interface TimedCache<Value> {
  /** The cached value, or a load that concurrent callers share. A value in the second half of its life is refreshed in the background. */
  get(key: string, waitUntil: WaitUntil): Promise<Value>;
  /** The cached value, when there is one that `get` would give without waiting. */
  peek(key: string): Value | undefined;
  /** Forgets one key, or everything. A load under way is not kept either. */
  drop(key?: string): void;
}

export interface TimedCacheOptions<Value> {
  load(key: string): Promise<Value>;
  now(): number;
  ttlMs: number;
  maxEntries: number;
}

interface Entry<Value> {
  value?: { is: Value; loadedAt: number };
  loading?: Promise<Value> | undefined;
}

/**
 * A cache in one isolate. `waitUntil` keeps a shared load alive when the client that began it leaves; a load that fails is not kept, and a
 * value whose refresh fails lives to the end of its time.
 */
export function createTimedCache<Value>({ load, now, ttlMs, maxEntries }: TimedCacheOptions<Value>): TimedCache<Value> {
  const entries = new Map<string, Entry<Value>>();

  /** What is used is loaded again before its time is over, so that the entry that was loaded longest ago is the least used one. */
  function startLoad(key: string, entry: Entry<Value>, waitUntil: WaitUntil): Promise<Value> {
    entries.delete(key);
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) break;
      entries.delete(oldest);
    }
    const loading = load(key).then(
      (is) => {
        entry.value = { is, loadedAt: now() };
        entry.loading = undefined;
        return is;
      },
      (error: unknown) => {
        entry.loading = undefined;
        throw error;
      },
    );
    entry.loading = loading;
    waitUntil(loading.catch(() => {}));
    return loading;
  }

  return {
    peek(key) {
      const value = entries.get(key)?.value;
      return value !== undefined && now() - value.loadedAt < ttlMs ? value.is : undefined;
    },
    async get(key, waitUntil) {
      const entry = entries.get(key) ?? {};
      const age = entry.value ? now() - entry.value.loadedAt : Number.POSITIVE_INFINITY;
      if (entry.value === undefined || age >= ttlMs) return entry.loading ?? startLoad(key, entry, waitUntil);
      if (age >= ttlMs / 2 && entry.loading === undefined) startLoad(key, entry, waitUntil).catch(() => {});
      return entry.value.is;
    },
    drop(key) {
      if (key === undefined) entries.clear();
      else entries.delete(key);
    },
  };
}
