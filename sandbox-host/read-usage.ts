import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a container has used since it was started, as far as it is known. */
export interface ContainerUsage {
  cpuMs?: number;
  maxMemoryBytes?: number;
}

const GROUPS = 'sys/fs/cgroup';

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

const toNumber = (text: string | undefined): number | undefined => (text !== undefined && /^\d+\s*$/.test(text) ? Number(text) : undefined);

/** The folders of a process's control groups by controller; that of the second version by the empty name. */
function parseGroups(text: string, root: string): Map<string, string> {
  const folders = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(',')) folders.set(controller, join(root, GROUPS, controllers, path));
  }
  return folders;
}

/**
 * Asks the kernel of this machine what the container of a process has used. Nothing is known where the host runs in a container itself, in which neither
 * the process nor its control groups can be seen. `root` is where the machine's files begin. https://docs.kernel.org/admin-guide/cgroup-v2.html and .../cgroup-v1/
 */
export async function readUsage(pid: number, root = '/'): Promise<ContainerUsage> {
  const folders = parseGroups((await readText(join(root, `proc/${pid}/cgroup`))) ?? '', root);
  const read = (controller: string, file: string) => {
    const folder = folders.get(controller);
    return folder === undefined ? undefined : readText(join(folder, file));
  };
  const [nanoseconds, stat, peakV1, peakV2] = await Promise.all([
    read('cpuacct', 'cpuacct.usage'),
    read('', 'cpu.stat'),
    read('memory', 'memory.max_usage_in_bytes'),
    read('', 'memory.peak'),
  ]);
  const fromV1 = toNumber(nanoseconds);
  const fromV2 = toNumber(/^usage_usec (\d+)$/m.exec(stat ?? '')?.[1]);
  const cpuMs = fromV1 === undefined ? (fromV2 === undefined ? undefined : fromV2 / 1_000) : fromV1 / 1_000_000;
  const maxMemoryBytes = toNumber(peakV1) ?? toNumber(peakV2);
  return { ...(cpuMs !== undefined && { cpuMs }), ...(maxMemoryBytes !== undefined && { maxMemoryBytes }) };
}
