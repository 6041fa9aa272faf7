import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

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

/** Throws an Error that names the port and the variable that sets it when somebody listens there already. */
export async function assertPortIsFree(variable: string, port: number): Promise<void> {
  await tryPort(port).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
    throw new Error(`Port ${port} ${reason}: set ${variable} to another one`);
  });
}
