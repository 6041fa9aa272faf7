import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { MissingRuntimeError } from './check-runtime.ts';
import { type HostConfig, readHostConfig } from './config.ts';
import { createHost } from './create-host.ts';
import { createLogger } from './logger.ts';
import { startReaper } from './reaper.ts';

const SWEEP_RETRY_MS = 2_000;
/** How long callers may take to read their answers once all runs are over. */
const LAST_ANSWERS_MS = 2_000;

function readConfigOrExit(): HostConfig {
  try {
    return readHostConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}

const config = readConfigOrExit();
const log = createLogger(
  (line) => process.stdout.write(line),
  () => new Date(),
);
const bootId = randomUUID();
const host = createHost(config, bootId, log);
const dismissReaper = startReaper(config.socketPath, bootId, log);

/** Retries, since Docker may start after us. */
async function sweep(): Promise<void> {
  try {
    await host.checkRuntime();
    const removed = await host.sweep();
    if (removed > 0) log('warn', 'sandbox.host.swept', { removed });
  } catch (error) {
    if (error instanceof MissingRuntimeError) {
      process.stderr.write(`${error.message}\n`);
      dismissReaper();
      process.exit(1);
    }
    log('warn', 'sandbox.host.sweep_failed', { reason: error instanceof Error ? error.message : 'unknown' });
    setTimeout(sweep, SWEEP_RETRY_MS).unref();
  }
}
await sweep();

const server = serve({ fetch: host.app.fetch, hostname: config.address, port: config.port }, ({ address, port }) => {
  log('info', 'sandbox.host.ready', { address, port, hostId: config.hostId, capacity: config.maxConcurrent });
  host.warmUp();
}) as Server;
server.on('error', (error) => {
  process.stderr.write(`SANDBOX_PORT: cannot listen on ${config.address}:${config.port}: ${error.message}\n`);
  dismissReaper();
  process.exit(1);
});

let draining = false;
/** Runs may go on for a while; a second signal ends them at once. */
async function stop(signal: NodeJS.Signals): Promise<void> {
  if (draining) {
    await host.killAll();
    return;
  }
  draining = true;
  log('info', 'sandbox.host.draining', { signal });
  await host.drain(config.drainMs);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  await closed;
  log('info', 'sandbox.host.stopped');
  // What Docker would not remove is left to the reaper, which waits for this process to end. Calls to Docker may still be open.
  if (host.owesRemovals) process.exit(0);
  dismissReaper();
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
