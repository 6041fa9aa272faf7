import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const CONNECT = 1;
const ADDRESS_BYTES: Record<number, number> = { 1: 4, 4: 16 };
const NAME = 3;
const REPLY = { succeeded: 0, notAllowed: 2, hostUnreachable: 4, commandNotSupported: 7 } as const;

const replyBytes = (code: number) => Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);

/** Exactly `count` bytes. Rejects when the connection ends before. */
async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = socket.read(count);
    if (bytes !== null && bytes.length === count) return bytes;
    if (socket.readableEnded || socket.destroyed) throw new Error('The connection ended');
    await new Promise<void>((resolve) => {
      const proceed = () => {
        for (const event of ['readable', 'end', 'close']) socket.off(event, proceed);
        resolve();
      };
      for (const event of ['readable', 'end', 'close']) socket.on(event, proceed);
    });
  }
}

/** Reads what a client asks for, as `host:port`, or undefined when it is no connection. */
async function readRequest(socket: Socket): Promise<string | undefined> {
  const [, methods = 0] = await readBytes(socket, 2);
  await readBytes(socket, methods);
  socket.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [, command, , addressType = 0] = await readBytes(socket, 4);
  const length = addressType === NAME ? (await readBytes(socket, 1)).readUInt8() : (ADDRESS_BYTES[addressType] ?? 0);
  const address = await readBytes(socket, length);
  const port = (await readBytes(socket, 2)).readUInt16BE();
  if (command !== CONNECT || length === 0) return undefined;
  if (addressType === NAME) {
    const name = address.toString('latin1');
    // Chromium sends an address of IPv6 as a name.
    return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
  }
  if (length === 4) return `${address.join('.')}:${port}`;
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16));
  return `[${groups.join(':')}]:${port}`;
}

const statusOf = (tunnel: ClientHttp2Stream): Promise<number> =>
  new Promise((resolve, reject) => {
    tunnel.once('response', (headers) => resolve(Number(headers[':status'])));
    tunnel.once('error', reject);
    tunnel.once('close', () => reject(new Error('The tunnel was closed')));
  });

/**
 * A SOCKS 5 proxy (RFC 1928) for the browser: each of its connections becomes a CONNECT stream to the sandbox-host, which alone resolves names and decides.
 * What it refuses is told to `onRefusal` with its status.
 */
export function createSocksServer(session: ClientHttp2Session, onRefusal: (authority: string, status: number) => void): Server {
  async function serve(socket: Socket): Promise<void> {
    const authority = await readRequest(socket);
    if (authority === undefined) {
      socket.end(replyBytes(REPLY.commandNotSupported));
      return;
    }
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': authority }, { endStream: false });
    tunnel.on('error', () => socket.destroy());
    socket.on('close', () => tunnel.close());
    const status = await statusOf(tunnel);
    if (status !== 200) {
      onRefusal(authority, status);
      socket.end(replyBytes(status === 403 ? REPLY.notAllowed : REPLY.hostUnreachable));
      return;
    }
    socket.write(replyBytes(REPLY.succeeded));
    socket.pipe(tunnel);
    tunnel.pipe(socket);
  }

  return createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket).catch(() => socket.destroy());
  });
}
