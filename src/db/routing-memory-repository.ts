import { count, eq, lt, sql } from 'drizzle-orm';
import { MAX_OUTCOMES_PER_KEY, type RoutingMemoryStore, type RoutingOutcome } from '../routing-memory/routing-memory-store.ts';
import type { Database } from './client.ts';
import { apiKeys, routingMemory } from './schema.ts';

/** A text as a string of FTS5, in which nothing has a meaning of its own. https://www.sqlite.org/fts5.html#fts5_strings */
const quote = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;

/** The FTS5 query for outcomes of one key that have any of the words. */
const searchQuery = (apiKeyId: string, words: readonly string[]): string =>
  `api_key_id : ${quote(apiKeyId)} AND digest : (${words.map(quote).join(' OR ')})`;

/** Outcomes in libSQL; triggers keep the full-text index beside them. */
export function createRoutingMemoryRepository(db: Database): RoutingMemoryStore {
  const { provider, model, skills, success, latencyMs, inputTokens, outputTokens, digest, createdAt } = routingMemory;

  return {
    async record(apiKeyId, outcome) {
      const values = [
        sql`${apiKeyId}`,
        sql`${outcome.provider}`,
        sql`${outcome.model}`,
        sql`${JSON.stringify(outcome.skills)}`,
        sql`${Number(outcome.success)}`,
        sql`${outcome.latencyMs}`,
        sql`${outcome.inputTokens}`,
        sql`${outcome.outputTokens}`,
        sql`${outcome.digest.join(' ')}`,
        sql`${outcome.createdAt}`,
      ];
      await db.batch([
        db.run(sql`
          INSERT INTO routing_memory
            (api_key_id, provider, model, skills, success, latency_ms, input_tokens, output_tokens, digest, created_at)
          SELECT ${sql.join(values, sql`, `)}
          WHERE EXISTS (SELECT 1 FROM ${apiKeys} WHERE id = ${apiKeyId} AND routing_memory = 1)`),
        db.run(sql`
          DELETE FROM routing_memory WHERE api_key_id = ${apiKeyId} AND id <= (
            SELECT id FROM routing_memory WHERE api_key_id = ${apiKeyId} ORDER BY id DESC LIMIT 1 OFFSET ${MAX_OUTCOMES_PER_KEY}
          )`),
      ]);
    },

    async search(apiKeyId, words, limit) {
      const counting = db.select({ total: count() }).from(routingMemory).where(eq(routingMemory.apiKeyId, apiKeyId));
      if (words.length === 0) return { found: [], total: (await counting)[0]?.total ?? 0 };
      const [rows, [counted]] = await db.batch([
        db
          .select({ provider, model, skills, success, latencyMs, inputTokens, outputTokens, digest, createdAt })
          .from(sql`routing_memory_search`)
          .innerJoin(routingMemory, sql`${routingMemory.id} = routing_memory_search.rowid`)
          .where(sql`routing_memory_search MATCH ${searchQuery(apiKeyId, words)} AND ${eq(routingMemory.apiKeyId, apiKeyId)}`)
          .orderBy(sql`bm25(routing_memory_search)`, sql`${routingMemory.id} DESC`)
          .limit(limit),
        counting,
      ]);
      const found = rows.map((row): RoutingOutcome => ({ ...row, digest: row.digest.split(' ') }));
      return { found, total: counted?.total ?? 0 };
    },

    async deleteOlderThan(cutoff) {
      return (await db.delete(routingMemory).where(lt(createdAt, cutoff.toISOString()))).rowsAffected;
    },
  };
}
