import type { SettingsRepository } from './db/settings-repository.ts';
import type { Settings } from './settings.ts';
import { createTimedCache, type WaitUntil } from './timed-cache.ts';

const CACHE_TTL_MS = 60_000;

export interface CachedSettings {
  /** Up to 60 s old. `waitUntil` keeps a load that others share alive. */
  get(waitUntil: WaitUntil): Promise<Settings>;
  /** As they are in the database. */
  load(): Promise<Settings>;
  /** Stores the changes and answers all settings; this isolate uses them at once. */
  put(changes: Partial<Settings>): Promise<Settings>;
}

export function createCachedSettings(repository: SettingsRepository, { now }: { now: () => number }): CachedSettings {
  const cache = createTimedCache<Settings>({ load: () => repository.load(), now, ttlMs: CACHE_TTL_MS, maxEntries: 1 });
  return {
    get: (waitUntil) => cache.get('settings', waitUntil),
    load: () => repository.load(),
    async put(changes) {
      try {
        return await repository.put(changes, new Date(now()));
      } finally {
        cache.drop();
      }
    },
  };
}
