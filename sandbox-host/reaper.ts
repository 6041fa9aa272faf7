import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDockerEngine } from './docker-engine.ts';
import type { Logger } from './logger.ts';
import { removeBoot } from './remove-leftovers.ts';

/** What a host that ends in good order says, having cleaned up itself. */
const GOODBYE = 'goodbye\n';
/** Rounds that Docker answered after the host's death: a container whose creation it had under way shows up late. */
const ROUNDS = 10;
const ROUND_MS = 300;
/** How long Docker may be away meanwhile. */
const PATIENCE_MS = 600_000;

/** Waits before a reaper that ended is started again; it doubles up to the longest while they end young. */
const FIRST_RESTART_MS = 250;
const MAX_RESTART_MS = 30_000;
const STABLE_MS = 60_000;

function spawnReaper(socketPath: string, bootId: string): ChildProcessByStdio<Writable, null, null> {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--max-old-space-size=32', fileURLToPath(import.meta.url), socketPath, bootId], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
  });
  child.stdin.on('error', () => undefined);
  child.unref();
  return child;
}

/**
 * Keeps a process that waits for this one's end, whatever kills it, and then removes the containers of this boot. In a session of its own, so that a
 * Ctrl-C does not end it first. One that ends before us is started again. The function it returns lets it go.
 */
export function startReaper(socketPath: string, bootId: string, log: Logger): () => void {
  let child: ReturnType<typeof spawnReaper> | undefined;
  let restart: NodeJS.Timeout | undefined;
  let restartMs = FIRST_RESTART_MS;
  let isDismissed = false;

  function start(): void {
    const startedAt = Date.now();
    const own = spawnReaper(socketPath, bootId);
    child = own;
    const onEnd = (reason: string) => {
      if (isDismissed || child !== own) return;
      child = undefined;
      if (Date.now() - startedAt >= STABLE_MS) restartMs = FIRST_RESTART_MS;
      log('warn', 'sandbox.reaper.ended', { reason, restartMs });
      restart = setTimeout(start, restartMs).unref();
      restartMs = Math.min(restartMs * 2, MAX_RESTART_MS);
    };
    own.on('spawn', () => log('info', 'sandbox.reaper.started', { pid: own.pid ?? 0 }));
    own.on('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
    own.on('error', (error) => onEnd(error.message));
  }

  start();
  return () => {
    isDismissed = true;
    clearTimeout(restart);
    child?.stdin.end(GOODBYE);
  };
}

async function reap(socketPath: string, bootId: string): Promise<void> {
  let heard = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) heard += chunk;
  if (heard === GOODBYE) return;
  const engine = createDockerEngine(socketPath);
  const deadline = Date.now() + PATIENCE_MS;
  for (let rounds = 0; rounds < ROUNDS && Date.now() < deadline; await sleep(ROUND_MS)) {
    await removeBoot(engine, bootId).then(
      () => {
        rounds += 1;
      },
      () => undefined,
    );
  }
}

if (import.meta.main) {
  const [socketPath, bootId] = process.argv.slice(2);
  if (socketPath === undefined || bootId === undefined) throw new Error('Usage: reaper.ts <Docker socket> <boot id>');
  await reap(socketPath, bootId);
}
