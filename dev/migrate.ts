import { readdirSync, readFileSync } from 'node:fs';
import { type Client, createClient } from '@libsql/client/web';
import { openDatabase } from '../src/db/client.ts';
import { seedBuiltinSkills } from '../src/db/seed-builtin-skills.ts';
import { builtinSkills } from '../src/skills/builtin/index.ts';
import type { BuiltinSkill } from '../src/skills/define.ts';
import { databaseFault } from './database-fault.ts';
import { DATABASE_URL_HINT, isDatabaseUrl } from './stack/settings.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

export interface Migration {
  /** The file's name, which gives the order and is recorded. */
  name: string;
  sql: string;
}

export const readMigrations = (): Migration[] =>
  readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, sql: readFileSync(new URL(name, MIGRATIONS), 'utf8') }));

/**
 * Applies what the database does not have yet, each migration in one transaction with its record in `schema_migrations`, so that two
 * runs at once do not meet. Returns the names of what it applied. Rejects with an Error that names the migration at fault, which is
 * rolled back, while those before it stay, and changes nothing in a database that a newer release has migrated.
 */
export async function runMigrations(client: Client, migrations: readonly Migration[] = readMigrations()): Promise<string[]> {
  await client.execute('CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)');
  await refuseNewerDatabase(client, migrations);
  const applied: string[] = [];
  for (const migration of migrations) if (await runMigration(client, migration)) applied.push(migration.name);
  return applied;
}

/** What a newer release has made of the tables this one may misread. */
async function refuseNewerDatabase(client: Client, migrations: readonly Migration[]): Promise<void> {
  const { rows } = await client.execute('SELECT name FROM schema_migrations ORDER BY name');
  const unknown = rows.map((row) => String(row.name)).filter((applied) => migrations.every(({ name }) => name !== applied));
  if (unknown.length > 0)
    throw new Error(
      `the tables are newer than this release, which does not know ${unknown.join(', ')}: use the release that made it, or a later one`,
    );
}

async function runMigration(client: Client, { name, sql }: Migration): Promise<boolean> {
  const transaction = await client.transaction('write');
  try {
    const { rows } = await transaction.execute({ sql: 'SELECT 1 FROM schema_migrations WHERE name = ?', args: [name] });
    if (rows.length > 0) return false;
    await transaction.executeMultiple(sql);
    await transaction.execute({ sql: 'INSERT INTO schema_migrations VALUES (?, ?)', args: [name, new Date().toISOString()] });
    await transaction.commit();
    return true;
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  } finally {
    transaction.close();
  }
}

/** Brings a libSQL database up to date: its tables, and the built-in skills in them. Returns the names of the migrations it applied. */
export async function applyMigrations(
  { url, authToken }: { url: string; authToken?: string },
  builtins: readonly BuiltinSkill[] = builtinSkills,
): Promise<string[]> {
  const options = { url, ...(authToken ? { authToken } : {}) };
  // A migration may take longer than a query of the gateway's is given.
  const client = createClient(options);
  try {
    const applied = await runMigrations(client);
    await seedBuiltinSkills(openDatabase(options), builtins, { newId: () => crypto.randomUUID(), now: () => new Date() });
    return applied;
  } finally {
    client.close();
  }
}

/** Environment: LIBSQL_URL, LIBSQL_AUTH_TOKEN. */
async function main({ LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: authToken = '' }: NodeJS.ProcessEnv): Promise<void> {
  if (!url || !isDatabaseUrl(url)) {
    const what = url ? `LIBSQL_URL: ${DATABASE_URL_HINT}` : 'Set LIBSQL_URL to the database, for example http://127.0.0.1:8888';
    console.error(what);
    process.exitCode = 1;
    return;
  }
  try {
    const applied = await applyMigrations({ url, authToken });
    console.log(applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`);
  } catch (error) {
    console.error(databaseFault({ url, authToken }, error as Error).message);
    process.exitCode = 1;
  }
}

if (import.meta.main) await main(process.env);
