import { sql } from 'drizzle-orm';
import type { Database } from './client.ts';
import { skills } from './schema.ts';

export type DatabaseStatus = 'ok' | 'unavailable';

/** Whether the database answers and has its tables. Never rejects. */
export async function probeDatabase(db: Database): Promise<DatabaseStatus> {
  try {
    await db.select({ one: sql`1` }).from(skills).limit(1);
    return 'ok';
  } catch {
    return 'unavailable';
  }
}
