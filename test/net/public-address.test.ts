import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/net/public-address.ts';

/** First and last address of every block of the two IANA special-purpose registries, of multicast and of what is reserved. */
const REFUSED: [name: string, first: string, last: string][] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private 10/8', '10.0.0.0', '10.255.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private 172.16/12', '172.16.0.0', '172.31.255.255'],
  ['IETF protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['TEST-NET-1', '192.0.2.0', '192.0.2.255'],
  ['AS112', '192.31.196.0', '192.31.196.255'],
  ['AMT', '192.52.193.0', '192.52.193.255'],
  ['6to4 relay anycast', '192.88.99.0', '192.88.99.255'],
  ['private 192.168/16', '192.168.0.0', '192.168.255.255'],
  ['direct delegation AS112', '192.175.48.0', '192.175.48.255'],
  ['benchmarking', '198.18.0.0', '198.19.255.255'],
  ['TEST-NET-2', '198.51.100.0', '198.51.100.255'],
  ['TEST-NET-3', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved 240/4 and broadcast', '240.0.0.0', '255.255.255.255'],
  ['Azure wire server', '168.63.129.16', '168.63.129.16'],
  ['unspecified v6', '::', '::'],
  ['loopback v6', '::1', '::1'],
  ['IPv4-compatible', '::2', '::ffff:ffff'],
  ['IPv4-mapped', '::ffff:0:0', '::ffff:ffff:ffff'],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local-use NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard-only', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy prefix', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['IETF protocol assignments v6', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['benchmarking v6', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['AMT v6', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['AS112 v6', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['drone remote id', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation v6', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['direct delegation AS112 v6', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['documentation 3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['not handed out, below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['not handed out, above 2000::/3', '4000::', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local v6', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast v6', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

/** The last public address below a refused block and the first above it. */
const PUBLIC = [
  ...['1.0.0.0', '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0', '192.167.255.255'],
  ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.112.255', '203.0.114.0', '223.255.255.255', '168.63.129.15'],
  ...['2001:200::', '2001:4860:4860::8888', '2001:db7:ffff::', '2001:db9::', '2003::', '2606:4700::1111', '2a00:1450::', '3ffe:ffff::'],
];

const isV4 = (text: string) => text.includes('.');

function toNumber(text: string): bigint {
  if (isV4(text)) return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
  const [head = '', tail] = text.split('::');
  const parts = (side: string) => side.split(':').filter((part) => part !== '');
  const [before, after] = [parts(head), parts(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((value, part) => value * 65_536n + BigInt(`0x${part}`), 0n);
}

const toV4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const toV6 = (value: bigint) =>
  [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((value >> shift) & 65_535n).toString(16)).join(':');

const isRefused = (value: bigint, v4: boolean) =>
  REFUSED.some(([, first, last]) => isV4(first) === v4 && toNumber(first) <= value && value <= toNumber(last));

describe('isPublicAddress', () => {
  it.each(REFUSED)('refuses %s', (_, first, last) => {
    expect(isPublicAddress(first)).toBe(false);
    expect(isPublicAddress(last)).toBe(false);
  });

  it.each(REFUSED)('refuses everything inside %s', (_, first, last) => {
    const show = isV4(first) ? toV4 : toV6;
    const inside = fc.bigInt({ min: toNumber(first), max: toNumber(last) });
    fc.assert(fc.property(inside, (value) => !isPublicAddress(show(value))));
  });

  it.each(PUBLIC)('lets %s pass', (address) => expect(isPublicAddress(address)).toBe(true));

  it('decides about any IPv4 address as the table does', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }), (value) => isPublicAddress(toV4(value)) === !isRefused(value, true)),
    );
  });

  it('decides about any IPv6 address as the table does', () => {
    // Half of them in 2000::/3, where all the public ones are.
    const address = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), fc.bigInt({ min: 1n << 125n, max: (1n << 126n) - 1n }));
    fc.assert(fc.property(address, (value) => isPublicAddress(toV6(value)) === !isRefused(value, false)));
  });

  it.each([
    '',
    'example.com',
    '8.8.8',
    '8.8.8.8.8',
    '010.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '256.1.1.1',
    '2606:4700::1111%eth0',
    '[2606:4700::1111]',
    ' 8.8.8.8',
  ])('refuses %j, which is no address in its usual spelling', (text) => expect(isPublicAddress(text)).toBe(false));

  it.each(['::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1', '::8.8.8.8'])(
    'refuses %s, which carries a public IPv4 address',
    (text) => expect(isPublicAddress(text)).toBe(false),
  );

  it('refuses text of any kind', () => {
    fc.assert(fc.property(fc.string(), (text) => /^[0-9a-f.:]+$/i.test(text) || !isPublicAddress(text)));
  });
});
