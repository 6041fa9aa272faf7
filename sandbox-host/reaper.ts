import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDockerEngine } from './docker-engine.ts';
import { removeBoot } from './remove-leftovers.ts';

/** What a host that ends in good order says, having cleaned up itself. */
const GOODBYE = 'goodbye\n';
/** Rounds after the host's death: a container whose creation Docker had under way shows up late. */
const ROUNDS = 10;
const ROUND_MS = 300;

/**
 * Starts a process that waits for this one's end, whatever kills it, and then removes the containers of this boot. In a session of its own, so that a
 * Ctrl-C does not end it first. The function it returns lets it go.
 */
export function startReaper(socketPath: string, bootId: string): () => void {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--max-old-space-size=32', fileURLToPath(import.meta.url), socketPath, bootId], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
  });
  child.stdin.on('error', () => undefined);
  child.unref();
  return () => child.stdin.end(GOODBYE);
}

async function reap(socketPath: string, bootId: string): Promise<void> {
  let heard = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) heard += chunk;
  if (heard === GOODBYE) return;
  const engine = createDockerEngine(socketPath);
  for (let round = 0; round < ROUNDS; round += 1) {
    await removeBoot(engine, bootId).catch(() => undefined);
    await sleep(ROUND_MS);
  }
}

if (import.meta.main) {
  const [socketPath, bootId] = process.argv.slice(2);
  if (socketPath === undefined || bootId === undefined) throw new Error('Usage: reaper.ts <Docker socket> <boot id>');
  await reap(socketPath, bootId);
}
