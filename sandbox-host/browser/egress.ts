import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { isPublicAddress } from '../../src/net/public-address.ts';
import { checkPublicUrl } from '../../src/net/public-url.ts';

export interface EgressOptions {
  /** Every address of a name; asks the machine's name servers when it is left out. */
  lookup?: (name: string) => Promise<string[]>;
  /** Whether an address that a name stands for may be connected to; public ones may when it is left out. */
  isAllowed?: (address: string) => boolean;
}

/** Lets one connection of a browser out, or answers why not: 403 a target that is not public, 404 no address, 502 no answer. */
export type Egress = (tunnel: ServerHttp2Stream, authority: string) => Promise<void>;

const CONNECT_TIMEOUT_MS = 10_000;
/** Web servers are on these two or among the ports that anybody may use; below are mail, shells and files. */
const isWebPort = (port: number) => port === 80 || port === 443 || port >= 1_024;

/** Asks the name servers of this machine, and nothing else: no file of hosts, no local discovery. */
async function lookupPublicName(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

interface Target {
  host: string;
  port: number;
  isName: boolean;
}

/** The host and port of a CONNECT when they may be a public web server's. */
function parseAuthority(authority: string): Target | undefined {
  // As ftp it keeps a port 80, which http leaves out.
  const port = Number(URL.parse(`ftp://${authority}`)?.port);
  const url = URL.parse(`http://${authority}`);
  const checked = url === null ? undefined : checkPublicUrl(url);
  if (checked === undefined || !isWebPort(port)) return undefined;
  return { host: checked.url.hostname.replace(/^\[|\]$/g, ''), port, isName: checked.host.kind === 'name' };
}

/** Connects to whichever of the addresses answers. The name is not looked up again, so that what was checked is what is reached. */
async function open({ host, port }: Target, addresses: readonly string[]): Promise<Socket> {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, callback) => {
    if (all) callback(null, answers);
    else callback(null, answers[0]?.address ?? '', answers[0]?.family);
  };
  const socket = connect({ host, port, lookup, autoSelectFamily: true, allowHalfOpen: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function refuse(tunnel: ServerHttp2Stream, status: number): void {
  if (tunnel.destroyed) return;
  tunnel.respond({ ':status': status }, { endStream: true });
  tunnel.close();
}

/** The way out of browsers: TCP to web servers on public addresses, by names that it resolves itself. Never rejects. */
export function createEgress({ lookup = lookupPublicName, isAllowed = isPublicAddress }: EgressOptions = {}): Egress {
  return async (tunnel, authority) => {
    tunnel.on('error', () => undefined);
    const target = parseAuthority(authority);
    if (target === undefined) return refuse(tunnel, 403);
    const addresses = target.isName ? await lookup(target.host).catch(() => []) : [target.host];
    if (addresses.length === 0) return refuse(tunnel, 404);
    if (target.isName && !addresses.every(isAllowed)) return refuse(tunnel, 403);
    const socket = await open(target, addresses).catch(() => undefined);
    if (socket === undefined) return refuse(tunnel, 502);
    socket.on('error', () => tunnel.close());
    tunnel.on('close', () => socket.destroy());
    if (tunnel.destroyed) {
      socket.destroy();
      return;
    }
    tunnel.respond({ ':status': 200 });
    tunnel.pipe(socket);
    socket.pipe(tunnel);
  };
}
