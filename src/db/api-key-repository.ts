import { asc, eq, sql } from 'drizzle-orm';
import { sha256Hex } from '../hex.ts';
import type { Logger } from '../logger.ts';
import type { Database } from './client.ts';
import { apiKeys, routingMemory } from './schema.ts';

export interface ApiKey {
  id: string;
  name: string;
  scopes: string[];
  /** Whether the outcomes of its requests are remembered. */
  routingMemory: boolean;
  createdAt: string;
}

export interface ApiKeyRepository {
  /** The only time that the key itself is there: the database has its digest. */
  create(key: { name: string; scopes: readonly string[]; routingMemory?: boolean }): Promise<ApiKey & { key: string }>;
  findByHash(sha256: string): Promise<ApiKey | undefined>;
  /** Oldest first. */
  list(): Promise<ApiKey[]>;
  /** The key as it is now; undefined when there is none. What was remembered goes when it shall not be any more. */
  setRoutingMemory(id: string, enabled: boolean): Promise<ApiKey | undefined>;
  /** Whether there was one. What is remembered of it goes with it. */
  delete(id: string): Promise<boolean>;
}

const KEY_BYTES = 32;

/** SHA-256 of a key, as lower-case hex. */
export const hashApiKey = (key: string): Promise<string> => sha256Hex(key);

/** `omr_` and 256 random bits as base64url (RFC 4648, section 5). */
export function newApiKey(): string {
  const base64 = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(KEY_BYTES))));
  return `omr_${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

// JSON as its text: drizzle's own parsing would fail the whole query for one bad row.
const columns = {
  id: apiKeys.id,
  name: apiKeys.name,
  scopes: sql<string>`${apiKeys.scopes}`,
  routingMemory: apiKeys.routingMemory,
  createdAt: apiKeys.createdAt,
};

export function createApiKeyRepository(
  db: Database,
  { log, newId, now }: { log: Logger; newId: () => string; now: () => Date },
): ApiKeyRepository {
  const read = (rows: readonly (Omit<ApiKey, 'scopes'> & { scopes: string })[]): ApiKey[] =>
    rows.flatMap((row) => {
      const scopes = readScopes(row.scopes);
      if (scopes !== undefined) return [{ ...row, scopes }];
      log.warn('keys.bad_row', { apiKeyId: row.id });
      return [];
    });

  const forget = (id: string) => db.delete(routingMemory).where(eq(routingMemory.apiKeyId, id));

  return {
    async create({ name, scopes, routingMemory = false }) {
      const key = newApiKey();
      const row = { id: newId(), name, scopes: [...scopes], routingMemory, createdAt: now().toISOString() };
      await db.insert(apiKeys).values({ ...row, keySha256: await hashApiKey(key) });
      return { ...row, key };
    },
    findByHash: async (sha256) => read(await db.select(columns).from(apiKeys).where(eq(apiKeys.keySha256, sha256)))[0],
    list: async () => read(await db.select(columns).from(apiKeys).orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))),
    async setRoutingMemory(id, enabled) {
      const update = db.update(apiKeys).set({ routingMemory: enabled }).where(eq(apiKeys.id, id)).returning(columns);
      const rows = enabled ? await update : (await db.batch([update, forget(id)]))[0];
      return read(rows)[0];
    },
    async delete(id) {
      const [{ rowsAffected }] = await db.batch([db.delete(apiKeys).where(eq(apiKeys.id, id)), forget(id)]);
      return rowsAffected > 0;
    },
  };
}

function readScopes(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((scope) => typeof scope === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}
