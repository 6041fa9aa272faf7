import { and, asc, count, eq, exists, inArray, ne, not, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type Skill, SYSTEM_OWNER, skillKey } from '../skills/skill.ts';
import type { SkillChanges, SkillFilter, SkillStore } from '../skills/skill-store.ts';
import { foldText } from '../skills/tokenize.ts';
import { type Database, isUniqueViolation } from './client.ts';
import { skills } from './schema.ts';
import { readSkillRows, skillColumns } from './skill-row.ts';

const JSON_PUNCTUATION = /[[\]",]/g;

/** As many skills as an owner sees are kept in memory: not with the texts of the instructions among them. */
const columnsToKeep = {
  ...skillColumns,
  handler: sql<string>`CASE WHEN ${skills.kind} = 'instructions' THEN '' ELSE ${skills.handler} END`,
};

const byName = [asc(skills.name), asc(skills.version), asc(skills.id)];

const foldForSearch = (text: string): string => foldText(text.normalize('NFKD').replace(/\p{M}+/gu, ''));

/** Skills in libSQL. */
export function createSkillRepository(db: Database, log: Logger): SkillStore {
  const where = ({ mode, source }: SkillFilter): SQL | undefined =>
    and(mode === undefined ? undefined : eq(skills.mode, mode), source === undefined ? undefined : eq(skills.sourceProvider, source));

  /** SQLite folds neither accents nor the case of most letters, so the search reads the texts and compares them here. */
  async function search(words: readonly string[], filter: SkillFilter, page: number, limit: number) {
    const { id, name, description } = skills;
    const texts = await db
      .select({ id, name, description, tags: skillColumns.tags })
      .from(skills)
      .where(where(filter))
      .orderBy(...byName);
    const ids = texts
      .filter((row) => {
        const text = foldForSearch(`${row.name}\n${row.description}\n${row.tags.replace(JSON_PUNCTUATION, ' ')}`);
        return words.every((word) => text.includes(word));
      })
      .map((row) => row.id);
    const wanted = ids.slice((page - 1) * limit, page * limit);
    const rows = await db
      .select(skillColumns)
      .from(skills)
      .where(inArray(skills.id, wanted))
      .orderBy(...byName);
    return { data: readSkillRows(rows, log), total: ids.length };
  }

  return {
    async listVisible(apiKeyId, idOrName) {
      const own = alias(skills, 'own');
      const hiding = db
        .select({ one: sql`1` })
        .from(own)
        .where(and(eq(own.apiKeyId, apiKeyId), eq(own.name, skills.name), eq(own.version, skills.version)));
      const isVisible = or(
        eq(skills.apiKeyId, apiKeyId),
        and(eq(skills.apiKeyId, SYSTEM_OWNER), ne(skills.apiKeyId, apiKeyId), not(exists(hiding))),
      );
      const isAsked = idOrName === undefined ? undefined : or(eq(skills.id, idOrName), eq(skills.name, idOrName));
      const rows = await db
        .select(columnsToKeep)
        .from(skills)
        .where(and(isVisible, isAsked))
        .orderBy(sql`${skills.apiKeyId} = ${SYSTEM_OWNER}`, ...byName);
      return readSkillRows(rows, log);
    },

    async listPage(filter, page, limit) {
      const words = foldForSearch(filter.q ?? '').match(/\S+/g);
      if (words !== null) return search(words, filter, page, limit);
      const [rows, [counted]] = await db.batch([
        db
          .select(skillColumns)
          .from(skills)
          .where(where(filter))
          .orderBy(...byName)
          .limit(limit)
          .offset((page - 1) * limit),
        db.select({ total: count() }).from(skills).where(where(filter)),
      ]);
      return { data: readSkillRows(rows, log), total: counted?.total ?? 0 };
    },

    async get(id) {
      const rows = await db.select(skillColumns).from(skills).where(eq(skills.id, id));
      return readSkillRows(rows, log)[0];
    },

    async insert(skill) {
      try {
        await db.insert(skills).values({ ...skill, modeWhenEnabled: skill.mode === 'auto' ? 'auto' : 'on' });
      } catch (error) {
        if (isUniqueViolation(error)) throw new AppError('skill_exists', `${skillKey(skill)} is installed already`);
        throw error;
      }
    },

    async update(id, changes, now) {
      const rows = await db
        .update(skills)
        .set({ ...columnsOf(changes), updatedAt: now.toISOString() })
        .where(eq(skills.id, id))
        .returning(skillColumns);
      return readSkillRows(rows, log)[0];
    },

    async delete(id) {
      const { rowsAffected } = await db.delete(skills).where(eq(skills.id, id));
      return rowsAffected > 0;
    },
  };
}

/** Keeps `enabled`, `mode` and the mode to come back to consistent, in the statement itself. Absent fields stay as they are. */
function columnsOf({ enabled, mode, ...rest }: SkillChanges) {
  if (mode === 'off') return { ...rest, mode, enabled: false };
  if (mode !== undefined) return { ...rest, mode, enabled: true, modeWhenEnabled: mode };
  if (enabled === undefined) return rest;
  return { ...rest, enabled, mode: enabled ? sql<Skill['mode']>`${skills.modeWhenEnabled}` : ('off' as const) };
}
