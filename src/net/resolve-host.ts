import * as z from 'zod';
import { isPublicName } from './public-url.ts';
import { readBytes } from './read-bytes.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;
/** Numbers of the record types (RFC 1035, RFC 3596, RFC 6672). */
const RECORD_TYPES = { A: 1, AAAA: 28 } as const;
const ALIAS_TYPES: readonly number[] = [5, 39];

const answerSchema = z.object({
  Status: z.literal(0),
  /** Whether addresses are missing. */
  TC: z.literal(false).default(false),
  Answer: z.array(z.object({ type: z.number(), data: z.string() })).default([]),
});

export interface Resolver {
  fetch: typeof fetch;
  /** An endpoint that answers `?name=&type=` with application/dns-json. */
  dnsOverHttpsUrl: string;
}

const withoutFinalDot = (name: string): string => name.toLowerCase().replace(/\.$/, '');

async function query(name: string, type: keyof typeof RECORD_TYPES, { fetch, dnsOverHttpsUrl }: Resolver, signal: AbortSignal) {
  const url = new URL(dnsOverHttpsUrl);
  url.searchParams.set('name', name);
  url.searchParams.set('type', type);
  const response = await fetch(url, { headers: { accept: 'application/dns-json' }, cache: 'no-store', redirect: 'manual', signal });
  const { bytes, truncated } = await readBytes(response, { maxBytes: MAX_BYTES, signal });
  if (!response.ok || truncated) throw new Error(`No usable DNS answer (${response.status})`);
  const { Answer } = answerSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  const alias = Answer.find((record) => ALIAS_TYPES.includes(record.type) && !isPublicName(withoutFinalDot(record.data)));
  if (alias !== undefined) throw new Error(`${name} is an alias of a local name`);
  return Answer.filter((record) => record.type === RECORD_TYPES[type]).map((record) => record.data);
}

/**
 * Every IPv4 and IPv6 address of a host name and of whatever it is an alias of, asked over DNS-over-HTTPS in its JSON form
 * (developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json). Asked anew each time: an answer that is kept
 * would vouch for addresses that a name no longer has.
 * Rejects when either query fails or is cut short, when an alias is a local name, when there is no address, after 5 s, and when the signal fires.
 */
export async function resolveHost(name: string, resolver: Resolver, signal: AbortSignal): Promise<string[]> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const [v4, v6] = await Promise.all([query(name, 'A', resolver, either), query(name, 'AAAA', resolver, either)]);
  if (v4.length + v6.length === 0) throw new Error(`No address for ${name}`);
  return [...v4, ...v6];
}
