import { and, count, desc, eq, getTableColumns, gte, inArray, lt, lte, not, or, type SQL, sql } from 'drizzle-orm';
import { type ExecutionFilter, type ExecutionStore, INTERRUPTED, type ListedExecution } from '../execution/execution-store.ts';
import type { JsonValue } from '../json.ts';
import type { Database } from './client.ts';
import { createExecutionClaims } from './execution-claims.ts';
import { approvals, skillExecutions } from './schema.ts';

const DELETE_BATCH = 1_000;

const isUnfinished = inArray(skillExecutions.status, ['pending', 'running']);

/** The column, and whether it is longer than so many bytes: then it is null, and never leaves the database. */
function cut(column: typeof skillExecutions.input | typeof skillExecutions.output, maxBytes: number) {
  const isLong = sql`coalesce(length(cast(${column} as blob)) > ${maxBytes}, 0)`;
  return { value: sql<JsonValue>`case when ${isLong} then null else ${column} end`.mapWith(column), isLong: isLong.mapWith(Boolean) };
}

function where({ apiKeyId, skill, status, from, to }: ExecutionFilter): SQL | undefined {
  const nameAndVersion = sql`${skillExecutions.skillName} || '@' || ${skillExecutions.skillVersion}`;
  return and(
    apiKeyId === undefined ? undefined : eq(skillExecutions.apiKeyId, apiKeyId),
    skill === undefined
      ? undefined
      : or(eq(skillExecutions.skillId, skill), eq(skillExecutions.skillName, skill), eq(nameAndVersion, skill)),
    status === undefined ? undefined : eq(skillExecutions.status, status),
    from === undefined ? undefined : gte(skillExecutions.createdAt, from),
    to === undefined ? undefined : lt(skillExecutions.createdAt, to),
  );
}

/** Executions in libSQL. Rows change by guarded statements only, so a finished one never changes again. */
export function createExecutionRepository(db: Database): ExecutionStore {
  const endLeases = (now: Date, condition?: SQL) => {
    const finishedAt = now.toISOString();
    const sinceMs = sql`(julianday(${finishedAt}) - julianday(coalesce(${skillExecutions.startedAt}, ${skillExecutions.createdAt}))) * 86400000`;
    return db
      .update(skillExecutions)
      .set({ status: 'error', errorMessage: INTERRUPTED, finishedAt, durationMs: sql`cast(round(${sinceMs}) as integer)` })
      .where(and(isUnfinished, lte(skillExecutions.leaseExpiresAt, finishedAt), condition));
  };
  const select = (filter: ExecutionFilter, limit: number, offset: number) =>
    db
      .select()
      .from(skillExecutions)
      .where(where(filter))
      .orderBy(desc(skillExecutions.createdAt), desc(skillExecutions.id))
      .limit(limit)
      .offset(offset);
  function selectBrief(filter: ExecutionFilter, limit: number, offset: number, maxValueBytes: number) {
    const [input, output] = [cut(skillExecutions.input, maxValueBytes), cut(skillExecutions.output, maxValueBytes)];
    return db
      .select({
        execution: { ...getTableColumns(skillExecutions), input: input.value, output: output.value },
        isLong: { input: input.isLong, output: output.isLong },
      })
      .from(skillExecutions)
      .where(where(filter))
      .orderBy(desc(skillExecutions.createdAt), desc(skillExecutions.id))
      .limit(limit)
      .offset(offset);
  }
  type Brief = Awaited<ReturnType<typeof selectBrief>>[number];
  const toListed = ({ execution, isLong }: Brief): ListedExecution => ({
    ...execution,
    omitted: (['input', 'output'] as const).filter((field) => isLong[field]),
  });
  const total = (filter: ExecutionFilter) => db.select({ total: count() }).from(skillExecutions).where(where(filter));

  return {
    ...createExecutionClaims(db),

    async start(id, { attempts, sandboxId, startedAt, leaseExpiresAt }) {
      const started = await db
        .update(skillExecutions)
        .set({ status: 'running', attempts, sandboxId, startedAt, leaseExpiresAt })
        .where(and(eq(skillExecutions.id, id), isUnfinished))
        .returning({ id: skillExecutions.id });
      return started.length > 0;
    },

    async finish(id, outcome) {
      const finished = await db
        .update(skillExecutions)
        .set(outcome)
        .where(and(eq(skillExecutions.id, id), isUnfinished))
        .returning({ id: skillExecutions.id });
      return finished.length > 0;
    },

    async interrupt(id, now) {
      const [, [execution]] = await db.batch([
        endLeases(now, eq(skillExecutions.id, id)),
        db.select().from(skillExecutions).where(eq(skillExecutions.id, id)),
      ]);
      return execution;
    },

    async recoverLeases(now) {
      const recovered = await endLeases(now).returning({ id: skillExecutions.id });
      return recovered.length;
    },

    async get(id, apiKeyId) {
      const owned = apiKeyId === undefined ? undefined : eq(skillExecutions.apiKeyId, apiKeyId);
      const [execution] = await db
        .select()
        .from(skillExecutions)
        .where(and(eq(skillExecutions.id, id), owned));
      return execution;
    },

    async statusOf(id) {
      const [found] = await db.select({ status: skillExecutions.status }).from(skillExecutions).where(eq(skillExecutions.id, id));
      return found?.status;
    },

    async findUnfinished(apiKeyId, callId) {
      const { id, attempts, sandboxId, createdAt, startedAt, leaseExpiresAt } = getTableColumns(skillExecutions);
      const isWaitedFor = and(eq(approvals.apiKeyId, apiKeyId), eq(approvals.executionId, id), eq(approvals.status, 'pending'));
      // Spelled as in the index of what is unfinished, and kept from that of the owner: all that is under way is far less than one key's history.
      const isUnderWay = sql`${skillExecutions.status} in ('pending', 'running') and +${skillExecutions.apiKeyId} = ${apiKeyId}`;
      const [found] = await db
        .select({ id, attempts, sandboxId, createdAt, startedAt, leaseExpiresAt, approvalId: approvals.id })
        .from(skillExecutions)
        .leftJoin(approvals, isWaitedFor)
        .where(and(isUnderWay, eq(skillExecutions.callId, callId)))
        .orderBy(desc(createdAt), desc(id))
        .limit(1);
      return found;
    },

    list: (filter, limit, offset) => select(filter, limit, offset),
    listBrief: async (filter, limit, maxValueBytes) => (await selectBrief(filter, limit, 0, maxValueBytes)).map(toListed),
    async count(filter) {
      const [counted] = await total(filter);
      return counted?.total ?? 0;
    },
    async listPage(filter, page, limit, maxValueBytes) {
      const [found, [counted]] = await db.batch([selectBrief(filter, limit, (page - 1) * limit, maxValueBytes), total(filter)]);
      return { data: found.map(toListed), total: counted?.total ?? 0 };
    },

    async deleteOlderThan(cutoff) {
      const isOld = and(lt(skillExecutions.createdAt, cutoff.toISOString()), not(isUnfinished));
      const oldest = db.select({ id: skillExecutions.id }).from(skillExecutions).where(isOld).limit(DELETE_BATCH);
      for (let deleted = 0; ; ) {
        const { rowsAffected } = await db.delete(skillExecutions).where(inArray(skillExecutions.id, oldest));
        deleted += rowsAffected;
        if (rowsAffected < DELETE_BATCH) return deleted;
      }
    },
  };
}
