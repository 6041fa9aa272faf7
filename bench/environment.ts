import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client/web';
import { bundleWorker } from '../dev/bundle-worker.ts';
import { runMigrations } from '../dev/migrate.ts';
import { openDatabase } from '../src/db/client.ts';
import { skills } from '../src/db/schema.ts';
import type { Target } from './client.ts';
import { makeSkills } from './skills.ts';
import { startWorkerd, type WorkerSpec } from './workerd.ts';

const MANAGEMENT_TOKEN = 'bench-management-token';
const ROWS_PER_INSERT = 500;

export interface Environment {
  direct: Target;
  proxy: Target;
  /** The product with a key that owns so many skills. */
  product(skillCount: number): Target;
  workers: { proxy: WorkerSpec; product: WorkerSpec };
  /** Milliseconds that the database has spent on requests so far. */
  databaseBusyMs(): Promise<number>;
  folder: string;
  close(): Promise<void>;
}

type Closing = (() => unknown)[];

async function startMockUpstream(closing: Closing): Promise<string> {
  const child = fork(join(import.meta.dirname, 'mock-upstream.ts'), { stdio: 'inherit' });
  closing.push(() => child.disconnect());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return `http://127.0.0.1:${port}`;
}

interface Database {
  url: string;
  /** Milliseconds that it has spent on requests since it was started. */
  busyMs(): Promise<number>;
}

/** The embedded libSQL with the tables of the gateway, in a process of its own, as in every deployment. */
async function startDatabase(folder: string, closing: Closing): Promise<Database> {
  const child = fork(join(import.meta.dirname, 'database.ts'), [join(folder, 'bench.db')], { stdio: 'inherit' });
  closing.push(async () => {
    child.disconnect();
    await once(child, 'exit');
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const client = createClient({ url });
  await runMigrations(client);
  client.close();
  return {
    url,
    async busyMs() {
      child.send('busyMs');
      const [{ busyMs }] = (await once(child, 'message')) as [{ busyMs: number }];
      return busyMs;
    },
  };
}

async function createKey(productUrl: string): Promise<{ id: string; key: string }> {
  const response = await fetch(`${productUrl}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MANAGEMENT_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench' }),
  });
  if (!response.ok) throw new Error(`POST /api/keys answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string; key: string };
}

async function storeSkills(databaseUrl: string, apiKeyId: string, count: number): Promise<void> {
  const db = openDatabase({ url: databaseUrl });
  const rows = makeSkills(apiKeyId, count);
  for (let start = 0; start < count; start += ROWS_PER_INSERT) await db.insert(skills).values(rows.slice(start, start + ROWS_PER_INSERT));
}

/**
 * Starts the mock upstream, the database, and both workers in one workerd; `skillCounts` are the sizes of the catalogues that the product's
 * keys own. The built-in skills are not stored, so that 0 means none.
 */
export async function startEnvironment(skillCounts: readonly number[], workerdOptions: readonly string[]): Promise<Environment> {
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-bench-'));
  const closing: Closing = [];
  const close = async (): Promise<void> => {
    for (const step of closing.reverse()) await step();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const upstreamUrl = await startMockUpstream(closing);
    const database = await startDatabase(folder, closing);
    const variables = {
      ...{ MANAGEMENT_TOKEN, LIBSQL_URL: database.url },
      ...{ OPENAI_BASE_URL: `${upstreamUrl}/v1`, OPENAI_API_KEY: 'bench' },
      ...{ ANTHROPIC_BASE_URL: upstreamUrl, ANTHROPIC_API_KEY: 'bench' },
      ...{ GEMINI_BASE_URL: upstreamUrl, GEMINI_API_KEY: 'bench' },
    };
    const workers = {
      proxy: {
        name: 'proxy',
        bundle: await bundleWorker(join(import.meta.dirname, 'bare-proxy.ts'), true),
        variables: { UPSTREAM_URL: upstreamUrl },
      },
      product: { name: 'product', bundle: await bundleWorker(undefined, true), variables },
    };
    const workerd = await startWorkerd([workers.proxy, workers.product], folder, workerdOptions);
    closing.push(workerd.stop);
    const { proxy, product } = workerd.urls as { proxy: string; product: string };

    const targets = new Map<number, Target>();
    for (const count of skillCounts) {
      const { id, key } = await createKey(product);
      await storeSkills(database.url, id, count);
      targets.set(count, { origin: product, apiKey: key });
    }
    const apiKey = targets.get(0)?.apiKey ?? 'none';
    return {
      direct: { origin: upstreamUrl, apiKey },
      proxy: { origin: proxy, apiKey },
      product(skillCount) {
        const target = targets.get(skillCount);
        if (target === undefined) throw new Error(`No key owns ${skillCount} skills`);
        return target;
      },
      workers,
      databaseBusyMs: database.busyMs,
      folder,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
