import { type AddressInfo, createServer } from 'node:net';

export const HOST = '127.0.0.1';

/** Listens for a moment. Resolves to the port; rejects with Node's error when it cannot be had. */
function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: HOST, exclusive: true }, () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
}

/** A port that nobody listens on at the moment. */
export const findFreePort = (): Promise<number> => tryPort(0);

/** Throws an Error that names the port and the variable that sets it when somebody listens there already. */
export async function assertPortIsFree(variable: string, port: number): Promise<void> {
  await tryPort(port).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
    throw new Error(`Port ${port} ${reason}: set ${variable} to another one`);
  });
}
