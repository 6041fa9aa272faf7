import { isPublicAddress } from './public-address.ts';

/**
 * Top-level names that no public host has: those of IANA's special-use registry (iana.org/assignments/special-use-domain-names; RFC 6761, 6762,
 * 7686, 9476), ICANN's `internal`, `arpa`, which holds the network's own records and `home.arpa`, and what local networks and clusters call theirs.
 */
const LOCAL_SUFFIXES = [
  ...['alt', 'arpa', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test'],
  ...['consul', 'corp', 'docker', 'home', 'intranet', 'lan', 'localdomain', 'private', 'svc'],
];

/** Metadata services of clouds whose names do not end in one of the above. */
const METADATA_HOSTS = new Set(['metadata.goog', 'metadata.packet.net', 'metadata.platformequinix.com', 'metadata.tencentyun.com']);

/** A name that DNS can hold (RFC 1035, section 2.3.4); the parser has turned every other script into Punycode. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

export type PublicHost = { kind: 'address' } | { kind: 'name'; name: string };

/** The URL to ask and whether its host is an address already or a name that is still to be resolved. */
export interface PublicUrl {
  url: URL;
  host: PublicHost;
}

/** Whether a host name in lower case, without a dot at its end, is one that a public host can have. */
export const isPublicName = (name: string): boolean =>
  name.includes('.') && DNS_NAME.test(name) && !METADATA_HOSTS.has(name) && !LOCAL_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));

/**
 * The URL without dots at the end of its host, or undefined when it is none that may be asked: not http or https, with user information,
 * or with a host that is not public by its spelling. The WHATWG parser has evened out case, percent signs, width and the many spellings
 * of IPv4 (`0x7f.1`, `2130706433`) by then.
 */
export function checkPublicUrl(url: URL): PublicUrl | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const host = url.hostname.replace(/\.+$/, '');
  if (host.startsWith('[')) return isPublicAddress(host.slice(1, -1)) ? { url, host: { kind: 'address' } } : undefined;
  // No top-level domain is a number, so a host that ends in one can only be an IPv4 address.
  if (/(^|\.)[0-9]+$/.test(host)) return isPublicAddress(host) ? { url: withHost(url, host), host: { kind: 'address' } } : undefined;
  return isPublicName(host) ? { url: withHost(url, host), host: { kind: 'name', name: host } } : undefined;
}

function withHost(url: URL, hostname: string): URL {
  const copy = new URL(url);
  copy.hostname = hostname;
  return copy;
}
