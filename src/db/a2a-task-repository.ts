import { and, count, desc, eq, gt, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import { isUnderWay, type Task, type TaskContent } from '../a2a/task.ts';
import { INTERRUPTED, MAX_TASKS_PER_KEY, TASK_LEASE_MS, TASK_TTL_MS, type TaskFilter, type TaskStore } from '../a2a/task-store.ts';
import type { Database } from './client.ts';
import { a2aTasks } from './schema.ts';

const columns = {
  id: a2aTasks.id,
  contextId: a2aTasks.contextId,
  state: a2aTasks.state,
  task: a2aTasks.task,
  updatedAt: a2aTasks.updatedAt,
  leaseExpiresAt: a2aTasks.leaseExpiresAt,
};
type Row = Pick<Task, 'id' | 'contextId' | 'state' | 'updatedAt'> & { task: TaskContent; leaseExpiresAt: string | null };

const toTask = ({ task, leaseExpiresAt: _, ...row }: Row): Task => ({ ...task, ...row });
const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

/** What a change of the task stores beside its identity. */
const changesOf = ({ id: _, contextId: __, state, updatedAt, ...content }: Task) => ({
  state,
  task: content,
  updatedAt,
  expiresAt: later(updatedAt, TASK_TTL_MS),
  leaseExpiresAt: isUnderWay(state) ? later(updatedAt, TASK_LEASE_MS) : null,
});

function conditionsOf({ contextId, state, changedAfter }: TaskFilter): (SQL | undefined)[] {
  return [
    contextId === undefined ? undefined : eq(a2aTasks.contextId, contextId),
    state === undefined ? undefined : eq(a2aTasks.state, state),
    changedAfter === undefined ? undefined : gt(a2aTasks.updatedAt, changedAfter),
  ];
}

/** Tasks of A2A in libSQL. */
export function createA2ATaskRepository(db: Database, { now }: { now: () => Date }): TaskStore {
  const ownedBy = (apiKeyId: string) => and(eq(a2aTasks.apiKeyId, apiKeyId), gt(a2aTasks.expiresAt, now().toISOString()));

  /** Tasks whose isolate has had its time. */
  function failThose(time: Date, condition?: SQL) {
    return db
      .update(a2aTasks)
      .set({
        state: 'failed',
        task: sql`json_set(${a2aTasks.task}, '$.statusText', ${INTERRUPTED})`,
        updatedAt: time.toISOString(),
        leaseExpiresAt: null,
      })
      .where(and(inArray(a2aTasks.state, ['submitted', 'working']), lte(a2aTasks.leaseExpiresAt, time.toISOString()), condition));
  }

  return {
    async create(task, apiKeyId) {
      const { id, contextId, updatedAt: createdAt } = task;
      await db.batch([
        db.insert(a2aTasks).values({ id, apiKeyId, contextId, createdAt, ...changesOf(task) }),
        db.delete(a2aTasks).where(sql`${a2aTasks.id} IN (
          SELECT id FROM a2a_tasks WHERE api_key_id = ${apiKeyId} ORDER BY updated_at DESC, id DESC LIMIT -1 OFFSET ${MAX_TASKS_PER_KEY}
        )`),
      ]);
    },

    async get(id, apiKeyId) {
      const find = async () =>
        (
          await db
            .select(columns)
            .from(a2aTasks)
            .where(and(eq(a2aTasks.id, id), ownedBy(apiKeyId)))
        )[0];
      const row = await find();
      if (row === undefined || !isUnderWay(row.state) || (row.leaseExpiresAt ?? '') > now().toISOString()) return row && toTask(row);
      await failThose(now(), eq(a2aTasks.id, id));
      const ended = await find();
      return ended && toTask(ended);
    },

    async move(task, from, apiKeyId) {
      const { rowsAffected } = await db
        .update(a2aTasks)
        .set(changesOf(task))
        .where(and(eq(a2aTasks.id, task.id), eq(a2aTasks.state, from), ownedBy(apiKeyId)));
      return rowsAffected > 0;
    },

    async list(apiKeyId, filter) {
      const { after, limit } = filter;
      const wanted = and(ownedBy(apiKeyId), ...conditionsOf(filter));
      const behind =
        after && or(lt(a2aTasks.updatedAt, after.updatedAt), and(eq(a2aTasks.updatedAt, after.updatedAt), lt(a2aTasks.id, after.id)));
      const [rows, [counted]] = await db.batch([
        db.select(columns).from(a2aTasks).where(and(wanted, behind)).orderBy(desc(a2aTasks.updatedAt), desc(a2aTasks.id)).limit(limit),
        db.select({ total: count() }).from(a2aTasks).where(wanted),
      ]);
      return { tasks: rows.map(toTask), total: counted?.total ?? 0 };
    },

    failInterrupted: async (time) => (await failThose(time)).rowsAffected,

    async deleteExpired(time) {
      return (await db.delete(a2aTasks).where(lte(a2aTasks.expiresAt, time.toISOString()))).rowsAffected;
    },
  };
}
