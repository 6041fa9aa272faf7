import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export const HOST = '127.0.0.1';

/** Listens for a moment. Resolves to the port; rejects with Node's error when it cannot be had. */
function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: HOST, exclusive: true }, () => {
      server.close(() => resolve(port));
    });
  });
}

/** Below those that systems give to outgoing connections, one of which could take a port between its choice and its use. */
const FREE_PORTS = { first: 20_000, count: 12_000 };

/** A port that nobody listens on at the moment. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    try {
      return await tryPort(FREE_PORTS.first + randomInt(FREE_PORTS.count));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** How long the parts of a stack that was killed a moment ago may take to let go of their ports: a sandbox-host removes its containers first. */
const RELEASE_MS = 8_000;
const RETRY_MS = 100;

/** Throws an Error that names the port and the variable that sets it when somebody listens there and goes on to. */
export async function assertPortIsFree(variable: string, port: number): Promise<void> {
  for (const deadline = Date.now() + RELEASE_MS; ; await wait(RETRY_MS)) {
    const code = await tryPort(port).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (code === undefined) return;
    if (code === 'EADDRINUSE' && Date.now() < deadline) continue;
    const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${code})`;
    throw new Error(`Port ${port} ${reason}: set ${variable} to another one`);
  }
}
