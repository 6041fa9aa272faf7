import { and, count, desc, eq, getTableColumns, gt, inArray, isNull, lt, lte, not, or, type SQL, sql } from 'drizzle-orm';
import { AppError } from '../errors.ts';
import { type ApprovalFilter, type ApprovalStore, DECLINED } from '../execution/approval-store.ts';
import { APPROVAL_EXPIRED, CLAIM_TTL_MS } from '../execution/execution-store.ts';
import type { Database } from './client.ts';
import { approvals, skillExecutions } from './schema.ts';

const { inputSha256: _, ...columns } = getTableColumns(approvals);

const isOpen = inArray(approvals.status, ['pending', 'approved']);

const ownedBy = (apiKeyId: string | undefined): SQL | undefined => (apiKeyId === undefined ? undefined : eq(approvals.apiKeyId, apiKeyId));

const where = ({ apiKeyId, status }: ApprovalFilter): SQL | undefined =>
  and(ownedBy(apiKeyId), status === undefined ? undefined : eq(approvals.status, status));

/** Approvals in libSQL. */
export function createApprovalRepository(db: Database): ApprovalStore {
  /** Ends the parked executions of those approvals. */
  const endParked = (condition: SQL | undefined, errorMessage: string, now: Date) =>
    db
      .update(skillExecutions)
      .set({ status: 'error', errorMessage, durationMs: 0, finishedAt: now.toISOString() })
      .where(
        and(
          eq(skillExecutions.status, 'pending'),
          isNull(skillExecutions.leaseExpiresAt),
          inArray(skillExecutions.id, db.select({ id: approvals.executionId }).from(approvals).where(condition)),
        ),
      );

  const get: ApprovalStore['get'] = async (id, apiKeyId) => {
    const [approval] = await db
      .select(columns)
      .from(approvals)
      .where(and(eq(approvals.id, id), ownedBy(apiKeyId)));
    return approval;
  };

  return {
    get,

    async stateOf(id, apiKeyId) {
      const { status, expiresAt, executionId } = columns;
      const [state] = await db
        .select({ id: columns.id, status, expiresAt, executionId })
        .from(approvals)
        .where(and(eq(approvals.id, id), ownedBy(apiKeyId)));
      return state;
    },

    async findDecision({ apiKeyId, skillId, inputSha256, requestId, callId }, now) {
      const isDecided = and(inArray(approvals.status, ['approved', 'denied']), gt(approvals.expiresAt, now.toISOString()));
      const ranUnderThisClaim = and(
        eq(approvals.status, 'used'),
        eq(skillExecutions.requestId, requestId),
        eq(skillExecutions.callId, callId),
        gt(skillExecutions.createdAt, new Date(now.getTime() - CLAIM_TTL_MS).toISOString()),
      );
      const [approval] = await db
        .select(columns)
        .from(approvals)
        .leftJoin(skillExecutions, eq(skillExecutions.id, approvals.executionId))
        .where(
          and(
            eq(approvals.apiKeyId, apiKeyId),
            eq(approvals.skillId, skillId),
            eq(approvals.inputSha256, inputSha256),
            or(isDecided, ranUnderThisClaim),
          ),
        )
        .orderBy(sql`${approvals.status} = 'used' desc`, desc(approvals.createdAt))
        .limit(1);
      return approval;
    },

    async decide(id, decision, now, apiKeyId) {
      const mine = and(eq(approvals.id, id), ownedBy(apiKeyId));
      const [[decided]] = await db.batch([
        db
          .update(approvals)
          .set({ status: decision })
          .where(and(mine, eq(approvals.status, 'pending'), gt(approvals.expiresAt, now.toISOString())))
          .returning(columns),
        endParked(and(mine, eq(approvals.status, 'denied')), DECLINED, now),
      ]);
      if (decided) return decided;
      const found = await get(id, apiKeyId);
      if (!found) throw new AppError('not_found', `No approval with id ${id}`);
      if (found.status === decision) return found;
      throw new AppError('conflict', found.status === 'pending' ? APPROVAL_EXPIRED : `The approval is already ${found.status}`);
    },

    async listPage(filter, page, limit) {
      const [data, [counted]] = await db.batch([
        db
          .select(columns)
          .from(approvals)
          .where(where(filter))
          .orderBy(desc(approvals.createdAt), desc(approvals.id))
          .limit(limit)
          .offset((page - 1) * limit),
        db.select({ total: count() }).from(approvals).where(where(filter)),
      ]);
      return { data, total: counted?.total ?? 0 };
    },

    async expire(now) {
      const isOver = and(isOpen, lte(approvals.expiresAt, now.toISOString()));
      const [, expired] = await db.batch([
        endParked(isOver, APPROVAL_EXPIRED, now),
        db.update(approvals).set({ status: 'expired' }).where(isOver).returning({ id: approvals.id }),
      ]);
      return expired.length;
    },

    async deleteOlderThan(cutoff) {
      const deleted = await db.delete(approvals).where(and(lt(approvals.createdAt, cutoff.toISOString()), not(isOpen)));
      return deleted.rowsAffected;
    },
  };
}
