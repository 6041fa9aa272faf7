import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'omniroute-edge', 'programs');

/** Installs a program that ships through npm, once for this machine, and gives the folder of its commands. Such programs are too large for dependencies. */
export async function installProgram(name: string, version: string): Promise<string> {
  const folder = join(cache, `${name.replaceAll('/', '-')}@${version}`);
  const commands = join(folder, 'node_modules', '.bin');
  if (existsSync(commands)) return commands;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'new-'));
  try {
    await run('npm', ['install', '--prefix', fresh, '--no-save', '--loglevel=error', `${name}@${version}`]);
    if (!existsSync(commands)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return commands;
}
