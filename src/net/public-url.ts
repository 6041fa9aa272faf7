import { isPublicAddress } from './public-address.ts';

/** Top-level names, and `home.arpa`, that only a local network or host answers (RFC 6761, 6762, 8375; ICANN's `internal`). */
const LOCAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'home.arpa'];

/** Metadata services of clouds whose names do not end in one of the above. */
const METADATA_HOSTS = new Set(['metadata.goog', 'metadata.tencentyun.com']);

export type PublicHost = { kind: 'address' } | { kind: 'name'; name: string };

/** The URL to ask and whether its host is an address already or a name that is still to be resolved. */
export interface PublicUrl {
  url: URL;
  host: PublicHost;
}

const isLocalName = (name: string): boolean =>
  !name.includes('.') || METADATA_HOSTS.has(name) || LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));

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
  return isLocalName(host) ? undefined : { url: withHost(url, host), host: { kind: 'name', name: host } };
}

function withHost(url: URL, hostname: string): URL {
  const copy = new URL(url);
  copy.hostname = hostname;
  return copy;
}
