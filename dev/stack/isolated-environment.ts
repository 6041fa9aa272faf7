import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROVIDER_VARIABLES, SEARCH_VARIABLES } from './bindings.ts';
import { findFreePort } from './ports.ts';
import type { Environment } from './settings.ts';

const OWN_PARTS = ['MANAGEMENT_TOKEN', 'LIBSQL_URL', 'LIBSQL_AUTH_TOKEN', 'SANDBOX_POOLS', 'SANDBOX_SECRET', 'SANDBOX_HOST_ID'];

/**
 * The environment of a stack that touches no other one: free ports, a new folder for data, and every part its own, the scripted
 * model among them. The folder is the caller's to remove.
 */
export async function isolateEnvironment(env: Environment): Promise<Environment & { DATA_DIR: string }> {
  const dropped = new Set<string>([...PROVIDER_VARIABLES, ...SEARCH_VARIABLES, ...OWN_PARTS]);
  const kept = Object.entries(env).filter(([name]) => !dropped.has(name));
  const [port, libsqlPort, sandboxPort] = await findDistinctPorts();
  return {
    ...Object.fromEntries(kept),
    PORT: String(port),
    LIBSQL_PORT: String(libsqlPort),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: mkdtempSync(join(tmpdir(), 'omniroute-stack-')),
  };
}

/** A port stays free until it is used, so they are asked for until three differ. */
async function findDistinctPorts(): Promise<[number, number, number]> {
  const ports = new Set<number>();
  while (ports.size < 3) ports.add(await findFreePort());
  return [...ports] as [number, number, number];
}
