import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress, type EgressOptions } from '../../sandbox-host/browser/egress.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server on this machine that says hello and sends back what it gets. */
async function startEcho() {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined));
    socket.write('hello ');
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A client whose CONNECT requests an egress answers. */
async function startClient(options: EgressOptions = { isAllowed: (address) => address === '127.0.0.1' }) {
  const lookups: string[] = [];
  const lookup = async (name: string) => {
    lookups.push(name);
    return ['127.0.0.1'];
  };
  const egress = createEgress({ lookup, ...options });
  const server = createServer().listen(0, '127.0.0.1');
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void egress(stream, String(headers[':authority'])));
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(
    () => session.destroy(),
    () => server.close(),
  );
  const open = async (authority: string) => {
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': authority }, { endStream: false });
    tunnel.on('error', () => undefined);
    const [headers] = await once(tunnel, 'response');
    return { tunnel, status: headers[':status'] as number };
  };
  return { open, lookups, session };
}

describe('the egress', () => {
  it('connects to an address that its own lookup gave and that is allowed', async () => {
    const echo = await startEcho();
    const { open, lookups } = await startClient();
    const { tunnel, status } = await open(`site.example:${echo.port}`);
    expect(status).toBe(200);
    tunnel.end('world');
    expect(await text(tunnel)).toBe('hello world');
    expect(lookups).toEqual(['site.example']);
    await vi.waitFor(() => expect(echo.sockets.size).toBe(0));
  });

  it('asks for the name once, so that it cannot change its mind between check and connection', async () => {
    const echo = await startEcho();
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const { open } = await startClient({ lookup: async () => answers.shift() ?? [], isAllowed: (address) => address === '127.0.0.1' });
    expect((await open(`site.example:${echo.port}`)).status).toBe(200);
    expect(answers).toEqual([['10.0.0.1']]);
    expect((await open(`site.example:${echo.port}`)).status).toBe(403);
  });

  it('tries all addresses of a name', async () => {
    const echo = await startEcho();
    const { open } = await startClient({ lookup: async () => ['::1', '127.0.0.1'], isAllowed: () => true });
    expect((await open(`site.example:${echo.port}`)).status).toBe(200);
  });

  it.each([
    'localhost:80',
    'router.local:80',
    'intranet:443',
    '127.0.0.1:80',
    '127.1:80',
    '0x7f000001:80',
    '10.0.0.1:443',
    '169.254.169.254:80',
    '192.168.1.1:443',
    '100.64.0.1:443',
    '0.0.0.0:80',
    '[::1]:80',
    '[::ffff:127.0.0.1]:80',
    '[fe80::1]:80',
    '[64:ff9b::7f00:1]:80',
    'metadata.google.internal:80',
    'site.example:22',
    'site.example:25',
    'site.example:0',
    'site.example:65536',
    'site.example',
    'site.example:port',
    ':80',
  ])('refuses %s without a lookup', async (authority) => {
    const { open, lookups } = await startClient({ isAllowed: () => true });
    expect((await open(authority)).status).toBe(403);
    expect(lookups).toEqual([]);
  });

  it.each(['10.0.0.1', '192.0.2.1', 'fd00::1', '::ffff:10.0.0.1', '224.0.0.1'])(
    'refuses a name that stands for %s, whatever else it stands for, by its own guard',
    async (address) => {
      const { open } = await startClient({ lookup: async () => ['93.184.215.14', address] });
      expect((await open('site.example:80')).status).toBe(403);
    },
  );

  it('tells a name without an address from one that does not answer', async () => {
    const { open } = await startClient({ lookup: async (name) => (name === 'site.example' ? ['127.0.0.1'] : []), isAllowed: () => true });
    expect((await open('nobody.example:80')).status).toBe(404);
    expect((await open('site.example:1024')).status).toBe(502);
    const failing = await startClient({ lookup: () => Promise.reject(new Error('no name server')) });
    expect((await failing.open('site.example:80')).status).toBe(404);
  });

  it('closes each side when the other goes', async () => {
    const echo = await startEcho();
    const { open, session } = await startClient();
    const first = await open(`site.example:${echo.port}`);
    const closed = once(first.tunnel.resume(), 'close');
    for (const socket of echo.sockets) socket.resetAndDestroy();
    await closed;
    await open(`site.example:${echo.port}`);
    await vi.waitFor(() => expect(echo.sockets.size).toBe(1));
    session.destroy();
    await vi.waitFor(() => expect(echo.sockets.size).toBe(0));
  });

  it('holds back a server while nobody reads', async () => {
    let written = 0;
    const flood = createTcpServer((socket) => {
      const chunk = Buffer.alloc(65_536);
      const write = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', write).on('error', () => undefined);
      write();
    }).listen(0, '127.0.0.1');
    await once(flood, 'listening');
    closing.push(() => flood.close());
    const { open, session } = await startClient();
    const { tunnel } = await open(`site.example:${(flood.address() as AddressInfo).port}`);
    tunnel.pause();
    let seen = -1;
    await vi.waitFor(
      () => {
        const before = seen;
        seen = written;
        expect(written).toBe(before);
      },
      { timeout: 10_000, interval: 300 },
    );
    expect(written).toBeLessThan(32 * 1_048_576);
    session.destroy();
  });
});
