import { sql } from 'drizzle-orm';
import type { Logger } from '../logger.ts';
import { DEFAULT_SETTINGS, type Settings, settingsSchema } from '../settings.ts';
import type { Database } from './client.ts';
import { settings } from './schema.ts';

export interface SettingsRepository {
  /** The stored settings over the defaults. A stored value that is not, or no longer, good is logged and left out. */
  load(): Promise<Settings>;
  /** Stores these settings together, or none of them, and answers all. */
  put(changes: Partial<Settings>, now: Date): Promise<Settings>;
}

export function createSettingsRepository(db: Database, log: Logger): SettingsRepository {
  // JSON as its text: drizzle's own parsing would fail the whole query for one bad row.
  const selectAll = () => db.select({ key: settings.key, value: sql<string>`${settings.value}` }).from(settings);

  return {
    load: async () => readSettings(await selectAll(), log),
    async put(changes, now) {
      const updatedAt = now.toISOString();
      const writes = Object.entries(changes)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => {
          const stored = { value: sql`${JSON.stringify(value)}`, updatedAt };
          return db
            .insert(settings)
            .values({ key, ...stored })
            .onConflictDoUpdate({ target: settings.key, set: stored });
        });
      const [first, ...rest] = [...writes, selectAll()];
      const results = await db.batch([first as ReturnType<typeof selectAll>, ...rest]);
      return readSettings(results.at(-1) as StoredSetting[], log);
    },
  };
}

interface StoredSetting {
  key: string;
  value: string;
}

function readSettings(rows: readonly StoredSetting[], log: Logger): Settings {
  const stored = rows.flatMap(({ key, value }) => {
    const parsed = readValue(key, value);
    if (parsed === undefined) log.warn('settings.bad_value', { key });
    return parsed === undefined ? [] : [[key, parsed] as const];
  });
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(stored) };
}

function readValue(key: string, text: string): unknown {
  if (!Object.hasOwn(settingsSchema.shape, key)) return undefined;
  try {
    return settingsSchema.shape[key as keyof Settings].safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
