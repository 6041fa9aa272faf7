import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { makeFolder } from './make-folder.ts';
import { identifyProcess, isRunning, type ProcessIdentity } from './process-identity.ts';

/** Longer than a part takes to end whose stack was killed. */
const ORPHANS_TIMEOUT_MS = 20_000;
const DYING_TIMEOUT_MS = 1_000;

const identity = z.object({ pid: z.int().positive(), startTime: z.string() });
const record = z.object({ holder: identity, parts: z.array(identity) });

type LockRecord = z.infer<typeof record>;

/** Says that the stack of this process is the one that uses the folder. */
export interface DataLock {
  /** Notes a process that uses the folder on our behalf. */
  addPart(pid: number): void;
  release(): void;
}

const hasCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Undefined for what no stack has written. */
function parseRecord(text: string): LockRecord | undefined {
  try {
    return record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Whether the file was not there and is now, as a whole. */
function createFile(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a lock that nobody holds, unless another start has replaced it meanwhile. */
function removeStale(path: string, text: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (readText(aside) !== text) linkSync(aside, path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Whether the process is gone; one that has just been killed gets a moment to be so. */
async function hasEnded(holder: ProcessIdentity): Promise<boolean> {
  for (const deadline = Date.now() + DYING_TIMEOUT_MS; isRunning(holder); await delay(50)) {
    if (Date.now() > deadline) return false;
  }
  return true;
}

/** The parts of a stack that was killed end by themselves; until then they use the folder, and its ports. */
async function waitForOrphans(folder: string, parts: readonly ProcessIdentity[]): Promise<void> {
  for (const deadline = Date.now() + ORPHANS_TIMEOUT_MS; ; await delay(50)) {
    const left = parts.find(isRunning);
    if (left === undefined) return;
    if (Date.now() > deadline) throw new Error(`DATA_DIR ${folder} is still used by process ${left.pid} of a stack that was killed`);
  }
}

/**
 * Takes the folder, made when it is missing, for the stack of this process. Rejects with an Error that names DATA_DIR when it cannot be
 * used, and the process when a running stack has it; what a killed one left behind does not stand in the way.
 */
export async function lockDataFolder(folder: string): Promise<DataLock> {
  try {
    makeFolder(folder, 0o700);
    return await takeLock(folder);
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new Error(`DATA_DIR ${folder} cannot be used: ${error.message}`, { cause: error });
  }
}

async function takeLock(folder: string): Promise<DataLock> {
  const path = join(folder, 'stack.lock');
  const holder = identifyProcess(process.pid);
  if (holder === undefined) throw new Error('this process does not find itself');
  const own: LockRecord = { holder, parts: [] };
  while (!createFile(path, JSON.stringify(own))) {
    const text = readText(path);
    if (text === undefined) continue;
    const other = parseRecord(text);
    if (other !== undefined && !(await hasEnded(other.holder))) {
      throw new Error(
        `DATA_DIR ${folder} is used by a running stack (process ${other.holder.pid}): stop that one, or set DATA_DIR to another folder`,
      );
    }
    await waitForOrphans(folder, other?.parts ?? []);
    removeStale(path, text);
  }
  return {
    addPart(pid) {
      const part = identifyProcess(pid);
      if (part === undefined) return;
      own.parts.push(part);
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
      renameSync(draft, path);
    },
    release: () => rmSync(path, { force: true }),
  };
}
