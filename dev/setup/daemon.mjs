import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { nameAddress, pingEngine } from './engine.mjs';
import { isAlive, withLock } from './lock.mjs';

/** Folders of its own, so that a daemon that the machine gets later finds nothing of ours. */
export const DAEMON_FILES = {
  dataRoot: '/var/lib/omniroute-edge/docker',
  execRoot: '/run/omniroute-edge/docker',
  pidFile: '/run/omniroute-edge/docker.pid',
  logFile: '/var/lib/omniroute-edge/dockerd.log',
  lockFile: '/run/omniroute-edge/setup.lock',
};

/** dockerd will not start over the file of one that was killed, once another process has got its id. */
function dropStalePidFile(pidFile) {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const name = isAlive(pid) ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : '';
    if (name !== 'dockerd') rmSync(pidFile, { force: true });
  } catch {}
}

const lastLine = (file) => readFileSync(file, 'utf8').trim().split('\n').at(-1);

/**
 * Starts a Docker daemon that outlives us and waits until it answers. Of several set-ups at once only one starts it.
 * @param {{ dockerd: string, address: { socketPath: string }, files?: typeof DAEMON_FILES, extraArguments?: string[], timeoutMs?: number }} options
 * @param {(line: string) => void} say
 */
export async function startDaemon({ dockerd, address, files = DAEMON_FILES, extraArguments = [], timeoutMs = 60_000 }, say) {
  await withLock(files.lockFile, async () => {
    if ((await pingEngine(address)) === 'ready') return;
    for (const file of [files.pidFile, files.logFile, join(files.dataRoot, '.'), join(files.execRoot, '.')]) {
      mkdirSync(dirname(file), { recursive: true });
    }
    dropStalePidFile(files.pidFile);
    const log = openSync(files.logFile, 'a');
    const folders = ['--data-root', files.dataRoot, '--exec-root', files.execRoot, '--pidfile', files.pidFile];
    const child = spawn(dockerd, ['--host', nameAddress(address), ...folders, ...extraArguments], {
      detached: true,
      stdio: ['ignore', log, log],
    });
    let failure;
    child.on('error', (error) => {
      failure = error.message;
    });
    child.on('exit', (code, signal) => {
      failure = `dockerd ended (${signal ?? code}): ${lastLine(files.logFile)}`;
    });
    say(`starting dockerd (log: ${files.logFile})`);
    const deadline = Date.now() + timeoutMs;
    while ((await pingEngine(address)) !== 'ready') {
      if (failure !== undefined) throw new Error(failure);
      if (Date.now() > deadline) throw new Error(`dockerd does not answer after ${timeoutMs} ms; see ${files.logFile}`);
      await delay(100);
    }
    child.removeAllListeners().unref();
    say(`dockerd runs as process ${child.pid} and stays; stop it with: kill $(cat ${files.pidFile})`);
  });
}
