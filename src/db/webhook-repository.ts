import { and, asc, count, eq, exists, getTableColumns, not } from 'drizzle-orm';
import { AppError } from '../errors.ts';
import { skillKey } from '../skills/skill.ts';
import type { WebhookStore } from '../webhooks/webhook-store.ts';
import { type Database, isUniqueViolation } from './client.ts';
import { skills, webhooks } from './schema.ts';

const { secret: _, ...columns } = getTableColumns(webhooks);

/** Webhooks in libSQL. */
export function createWebhookRepository(db: Database): WebhookStore {
  return {
    async listPage(page, limit) {
      const [data, [counted]] = await db.batch([
        db
          .select(columns)
          .from(webhooks)
          .orderBy(asc(webhooks.name))
          .limit(limit)
          .offset((page - 1) * limit),
        db.select({ total: count() }).from(webhooks),
      ]);
      return { data, total: counted?.total ?? 0 };
    },

    async listNames() {
      const rows = await db.select({ name: webhooks.name }).from(webhooks).orderBy(asc(webhooks.name));
      return rows.map(({ name }) => name);
    },

    async get(id) {
      const [webhook] = await db.select(columns).from(webhooks).where(eq(webhooks.id, id));
      return webhook;
    },

    async findEndpoint(name) {
      const { url, secret, timeoutMs } = webhooks;
      const [endpoint] = await db.select({ url, secret, timeoutMs }).from(webhooks).where(eq(webhooks.name, name));
      return endpoint;
    },

    async insert(webhook) {
      try {
        await db.insert(webhooks).values(webhook);
      } catch (error) {
        if (isUniqueViolation(error)) throw new AppError('handler_exists', `There is a webhook named ${webhook.name}`);
        throw error;
      }
    },

    async update(id, changes, now) {
      const [webhook] = await db
        .update(webhooks)
        .set({ ...changes, updatedAt: now.toISOString() })
        .where(eq(webhooks.id, id))
        .returning(columns);
      return webhook;
    },

    async delete(id) {
      const { name, version } = skills;
      const isNamed = and(eq(skills.kind, 'handler'), eq(skills.handler, webhooks.name));
      const naming = db.select({ id: skills.id, name, version }).from(skills).innerJoin(webhooks, isNamed);
      const [deleted, users] = await db.batch([
        db
          .delete(webhooks)
          .where(and(eq(webhooks.id, id), not(exists(db.select({ id: skills.id }).from(skills).where(isNamed)))))
          .returning({ id: webhooks.id }),
        naming.where(eq(webhooks.id, id)).orderBy(asc(name), asc(version)),
      ]);
      const [first] = users;
      if (first) {
        const more = users.length > 1 ? ` and ${users.length - 1} more` : '';
        const ids = users.map((skill) => skill.id);
        throw new AppError('handler_in_use', `Skills still name this webhook: ${skillKey(first)}${more}`, ids);
      }
      return deleted.length > 0;
    },
  };
}
