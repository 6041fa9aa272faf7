import { sql } from 'drizzle-orm';
import type { BuiltinSkill } from '../skills/define.ts';
import { SYSTEM_OWNER } from '../skills/skill.ts';
import type { Database } from './client.ts';
import { skills } from './schema.ts';

/** What the product decides about its own skills; the rest is the operator's once a skill is stored. */
const PRODUCT_COLUMNS = ['description', 'schema', 'tags', 'idempotent', 'timeoutMs'] as const;

const incoming = (column: (typeof PRODUCT_COLUMNS)[number]) => sql`excluded.${sql.identifier(skills[column].name)}`;

/** Stores the built-in skills as `system` skills, in one transaction. Rows that are as they should be are not touched, and none is deleted. */
export async function seedBuiltinSkills(
  db: Database,
  builtins: readonly BuiltinSkill[],
  { newId, now }: { newId: () => string; now: () => Date },
): Promise<void> {
  const time = now().toISOString();
  const [first, ...rest] = builtins.map((builtin) => insertOrUpdate(db, builtin, newId(), time));
  if (first !== undefined) await db.batch([first, ...rest]);
}

const changes = PRODUCT_COLUMNS.map((column) => sql`${skills[column]} IS NOT ${incoming(column)}`);

function insertOrUpdate(db: Database, builtin: BuiltinSkill, id: string, time: string) {
  const { name, version, description, schema, tags, mode, policy, idempotent, timeoutMs } = builtin;
  return db
    .insert(skills)
    .values({
      ...{ id, apiKeyId: SYSTEM_OWNER, name, version, description, schema, tags: [...tags], policy, idempotent, timeoutMs },
      ...{ mode, enabled: mode !== 'off', modeWhenEnabled: mode === 'auto' ? 'auto' : 'on' },
      ...{ handler: name, kind: 'builtin', sourceProvider: 'builtin', createdAt: time, updatedAt: time },
    })
    .onConflictDoUpdate({
      target: [skills.apiKeyId, skills.name, skills.version],
      set: { ...Object.fromEntries(PRODUCT_COLUMNS.map((column) => [column, incoming(column)])), updatedAt: time },
      setWhere: sql`${skills.kind} = 'builtin' AND (${sql.join(changes, sql` OR `)})`,
    });
}
