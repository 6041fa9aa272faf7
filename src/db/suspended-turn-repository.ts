import { and, eq, gt, inArray, lte } from 'drizzle-orm';
import type { SuspendedTurnStore } from '../gateway/suspended-turns.ts';
import type { Database } from './client.ts';
import { suspendedTurns } from './schema.ts';

export interface SuspendedTurnRepository extends SuspendedTurnStore {
  /** The number of turns that went because nobody came back in time. */
  deleteExpired(now: Date): Promise<number>;
}

/** Suspended turns in libSQL. */
export function createSuspendedTurnRepository(db: Database, { now }: { now: () => Date }): SuspendedTurnRepository {
  return {
    async save({ id, apiKeyId, transcript, expiresInMs }) {
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + expiresInMs);
      await db
        .insert(suspendedTurns)
        .values({ id, apiKeyId, transcript, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() });
    },

    async load(ids, apiKeyId) {
      const turns = await db
        .select({ id: suspendedTurns.id, transcript: suspendedTurns.transcript })
        .from(suspendedTurns)
        .where(
          and(
            inArray(suspendedTurns.id, [...ids]),
            eq(suspendedTurns.apiKeyId, apiKeyId),
            gt(suspendedTurns.expiresAt, now().toISOString()),
          ),
        );
      return new Map(turns.map(({ id, transcript }) => [id, transcript]));
    },

    async deleteExpired(time) {
      const deleted = await db.delete(suspendedTurns).where(lte(suspendedTurns.expiresAt, time.toISOString()));
      return deleted.rowsAffected;
    },
  };
}
