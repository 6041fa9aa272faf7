import { join } from 'node:path';
import { databaseFault } from './database-fault.ts';
import { applyMigrations } from './migrate.ts';
import { prepareCredentials, writeCredentials } from './stack/credentials.ts';
import { callScheduled, runCron } from './stack/cron.ts';
import { type DataLock, lockDataFolder } from './stack/data-lock.ts';
import { ensureDevelopmentKey } from './stack/development-key.ts';
import { createPartGroup, type PartGroup } from './stack/part-group.ts';
import { planStack } from './stack/plan.ts';
import { assertPortIsFree } from './stack/ports.ts';
import { type Environment, readStackSettings, type StackSettings } from './stack/settings.ts';
import { planMiniflare, planWrangler } from './stack/worker-plan.ts';

export interface StackOptions {
  env: Environment;
  /** Every line that a part prints. */
  log(part: string, line: string): void;
  /** Runs the worker under `wrangler dev`. */
  wrangler?: boolean;
  /** First module of another worker, run in place of the gateway by the tests of the stack itself. */
  workerEntry?: string;
}

export interface Stack {
  url: string;
  managementToken: string;
  /** Whether the token was made up by us and not given by MANAGEMENT_TOKEN. */
  madeManagementToken: boolean;
  /** A key for development, with the default scopes. */
  apiKey: string;
  /** Whether the scripted model answers, since no provider is configured. */
  isScripted: boolean;
  /** Resolves once every part is gone: to undefined after `stop`, else to the sentence that says which part died. */
  ended: Promise<string | undefined>;
  stop(): Promise<void>;
}

async function assertPortsAreFree(settings: StackSettings): Promise<void> {
  await assertPortIsFree('PORT', settings.PORT);
  if (settings.LIBSQL_URL === undefined) await assertPortIsFree('LIBSQL_PORT', settings.LIBSQL_PORT);
  if (settings.SANDBOX_POOLS === undefined) await assertPortIsFree('SANDBOX_PORT', settings.SANDBOX_PORT);
}

/** Says of a database that is not our own that the fault is there. */
async function prepareDatabase(database: { url: string; authToken?: string }, settings: StackSettings): Promise<void> {
  try {
    await applyMigrations(database);
  } catch (error) {
    throw settings.LIBSQL_URL === undefined ? error : databaseFault(database, error as Error);
  }
}

/**
 * Starts what a gateway is made of, on this machine alone: database, migrations, sandbox-host, scripted model and worker, except
 * for those that the environment replaces by one of its own. When one part dies, all are stopped. Rejects with an Error whose
 * message is for the user, and with nothing left running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const settings = readStackSettings(options.env);
  const lock = await lockDataFolder(settings.DATA_DIR);
  try {
    return await startParts(options, settings, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startParts(
  { env, log, wrangler = false, workerEntry }: StackOptions,
  settings: StackSettings,
  lock: DataLock,
): Promise<Stack> {
  await assertPortsAreFree(settings);
  const credentialsFile = join(settings.DATA_DIR, 'credentials.json');
  const credentials = prepareCredentials(credentialsFile);
  const managementToken = settings.MANAGEMENT_TOKEN ?? credentials.managementToken;
  const sandboxSecret = settings.SANDBOX_SECRET ?? credentials.sandboxSecret;
  const plan = await planStack(env, settings, { managementToken, sandboxSecret });
  const worker = await (wrangler ? planWrangler : planMiniflare)({ env, settings, variables: plan.variables, entry: workerEntry });

  const parts = createPartGroup(log, lock.addPart);
  try {
    await parts.start(plan.backends);
    await prepareDatabase(plan.database, settings);
    await parts.start([worker]);
    if (!(await callScheduled(plan.url))) log(worker.name, 'the scheduled handler failed');
    const apiKey = await ensureDevelopmentKey(plan.url, managementToken, credentials.apiKey);
    writeCredentials(credentialsFile, { ...credentials, apiKey });
    return {
      ...keepRunning(plan.url, parts, lock, (line) => log(worker.name, line)),
      url: plan.url,
      managementToken,
      madeManagementToken: settings.MANAGEMENT_TOKEN === undefined,
      apiKey: apiKey.key,
      isScripted: plan.isScripted,
    };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** Calls the scheduled handler until a part dies or `stop` is called, and ends all parts and the lock then. */
function keepRunning(url: string, parts: PartGroup, lock: DataLock, log: (line: string) => void): Pick<Stack, 'ended' | 'stop'> {
  const stopping = new AbortController();
  const ended = Promise.race([runCron(url, stopping.signal, log), parts.firstEnd()]).then(async (reason) => {
    const died = stopping.signal.aborted ? undefined : reason;
    stopping.abort();
    await parts.stop();
    lock.release();
    return died;
  });
  return {
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
