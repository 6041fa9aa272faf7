/** The DNS-over-HTTPS endpoint of the internet that `createInternet` makes up. */
export const DNS_URL = 'https://dns.example/dns-query';

const RECORD_TYPES: Record<string, number> = { A: 1, AAAA: 28 };

interface Internet {
  /** Addresses by host name. Names that are not here do not exist. */
  hosts?: Record<string, string[]>;
  /** Answers what is not a DNS query. */
  site?: (request: Request, signal: AbortSignal) => Response | Promise<Response>;
  /** Answers DNS queries instead of `hosts`. */
  dns?: (name: string, type: string, request: Request, signal: AbortSignal) => Response | Promise<Response>;
}

const dnsAnswer = (hosts: Record<string, string[]>, name: string, type: string): Response => {
  const addresses = hosts[name];
  if (addresses === undefined) return Response.json({ Status: 3 });
  const ofType = addresses.filter((address) => address.includes(':') === (type === 'AAAA'));
  const alias = { name, type: 5, TTL: 60, data: `cdn.${name}.` };
  return Response.json({ Status: 0, Answer: [alias, ...ofType.map((data) => ({ name, type: RECORD_TYPES[type], TTL: 60, data }))] });
};

/** Answers only when the caller gives up. */
export const hang = (signal: AbortSignal): Promise<Response> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** A fetch that answers like a DNS-over-HTTPS resolver and like the sites behind it, and what it was asked. */
export function createInternet({ hosts = {}, site = () => new Response('hello'), dns }: Internet) {
  const requests: Request[] = [];
  const queries: string[] = [];
  const respond = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    // The caller's own signal: that of a request may be collected before it fires.
    const signal = init?.signal ?? request.signal;
    const url = new URL(request.url);
    if (!request.url.startsWith(DNS_URL)) {
      requests.push(request);
      return site(request, signal);
    }
    const [name, type] = [url.searchParams.get('name') ?? '', url.searchParams.get('type') ?? ''];
    queries.push(`${name} ${type}`);
    return dns === undefined ? dnsAnswer(hosts, name, type) : dns(name, type, request, signal);
  };
  return { fetch: respond as typeof fetch, requests, queries };
}
