import { type ApiKey, type ApiKeyRepository, hashApiKey } from './db/api-key-repository.ts';
import { createTimedCache, type WaitUntil } from './timed-cache.ts';

const CACHE_TTL_MS = 60_000;
/** Keys that one isolate remembers, unknown ones among them. */
const MAX_KEYS = 10_000;
const API_KEY = /^omr_[A-Za-z0-9_-]{43}$/;

export interface CachedApiKeys extends Pick<ApiKeyRepository, 'create' | 'list' | 'setRoutingMemory' | 'delete'> {
  /** Whether `find` would find the key without asking the database. */
  remembers(credential: string): boolean;
  /** The key that the credential is, as it was at most 60 s ago. `waitUntil` keeps a load that others share alive. */
  find(credential: string, waitUntil: WaitUntil): Promise<ApiKey | undefined>;
}

/**
 * API keys as callers send them. They are in this isolate's memory anyway while it serves their requests, and a digest for each request would
 * be a good part of what the gateway costs. A key that is deleted through this isolate stops working at once.
 */
export function createCachedApiKeys(repository: ApiKeyRepository, { now }: { now: () => number }): CachedApiKeys {
  const cache = createTimedCache<ApiKey | undefined>({
    load: async (credential) => repository.findByHash(await hashApiKey(credential)),
    now,
    ttlMs: CACHE_TTL_MS,
    maxEntries: MAX_KEYS,
  });
  return {
    create: (key) => repository.create(key),
    list: () => repository.list(),
    remembers: (credential) => cache.peek(credential) !== undefined,
    async find(credential, waitUntil) {
      return API_KEY.test(credential) ? cache.get(credential, waitUntil) : undefined;
    },
    async setRoutingMemory(id, enabled) {
      try {
        return await repository.setRoutingMemory(id, enabled);
      } finally {
        cache.drop();
      }
    },
    async delete(id) {
      try {
        return await repository.delete(id);
      } finally {
        cache.drop();
      }
    },
  };
}
