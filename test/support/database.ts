import { type Client, createClient } from '@libsql/client/web';
import { startLibsqlServer } from '../../dev/libsql-server.ts';
import { runMigrations } from '../../dev/migrate.ts';
import { type Database, openDatabase } from '../../src/db/client.ts';

export interface TestDatabase {
  db: Database;
  /** The plain client, for what a test wants to do behind the product's back. */
  client: Client;
  url: string;
  close(): Promise<void>;
}

/** A libSQL server of its own with the real migrations applied and nothing in the tables. It goes when it is closed. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, close } = await startLibsqlServer({ path: ':memory:', port: 0, host: '127.0.0.1' });
  const client = createClient({ url });
  await runMigrations(client);
  return { db: openDatabase({ url }), client, url, close };
}
