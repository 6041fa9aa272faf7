import ipaddr from 'ipaddr.js';

/** The part of IPv6 that IANA hands out as global unicast (RFC 4291, iana.org/assignments/ipv6-address-space); the rest is reserved. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** In public space, yet answered by the platform's own services: Azure's wire server. */
const PLATFORM_ADDRESSES = new Set(['168.63.129.16']);

/**
 * Whether an IP address, as text, is one that everybody on the internet reaches. False for all of the IANA special-purpose registries
 * (iana-ipv4-special-registry, iana-ipv6-special-registry), for multicast, for addresses that carry an IPv4 address inside
 * and for whatever is no address in its usual spelling.
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return ipaddr.IPv4.parse(address).range() === 'unicast' && !PLATFORM_ADDRESSES.has(address);
  }
  if (!ipaddr.IPv6.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.match(GLOBAL_UNICAST) && parsed.range() === 'unicast';
}
