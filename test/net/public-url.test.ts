import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/net/public-address.ts';
import { checkPublicUrl } from '../../src/net/public-url.ts';

const check = (text: string) => checkPublicUrl(new URL(text));

describe('checkPublicUrl', () => {
  it.each([
    ['https://example.com/a?b#c', 'https://example.com/a?b#c', { kind: 'name', name: 'example.com' }],
    ['http://EXAMPLE.com.:8080/', 'http://example.com:8080/', { kind: 'name', name: 'example.com' }],
    ['http://example.com../', 'http://example.com/', { kind: 'name', name: 'example.com' }],
    ['https://bücher.example.org/', 'https://xn--bcher-kva.example.org/', { kind: 'name', name: 'xn--bcher-kva.example.org' }],
    ['https://localhost.example.com/', 'https://localhost.example.com/', { kind: 'name', name: 'localhost.example.com' }],
    ['https://notlocal.dev/', 'https://notlocal.dev/', { kind: 'name', name: 'notlocal.dev' }],
    ['https://test.com/', 'https://test.com/', { kind: 'name', name: 'test.com' }],
    ['https://internal.example.com/', 'https://internal.example.com/', { kind: 'name', name: 'internal.example.com' }],
    ['https://my_site.example.com/', 'https://my_site.example.com/', { kind: 'name', name: 'my_site.example.com' }],
    ['https://1.example.com/', 'https://1.example.com/', { kind: 'name', name: '1.example.com' }],
    ['https://ｅｘａｍｐｌｅ。com/', 'https://example.com/', { kind: 'name', name: 'example.com' }],
    ['http://01.01.01.01/', 'http://1.1.1.1/', { kind: 'address' }],
    ['http://0x8080808/', 'http://8.8.8.8/', { kind: 'address' }],
    ['http://8.8.8.8./', 'http://8.8.8.8/', { kind: 'address' }],
    ['http://[2606:4700::1111]/', 'http://[2606:4700::1111]/', { kind: 'address' }],
  ])('lets %s pass', (text, href, host) => {
    const checked = check(text);
    expect(checked?.url.href).toBe(href);
    expect(checked?.host).toEqual(host);
  });

  it('leaves the URL that it was given as it is', () => {
    const url = new URL('https://example.com./');
    checkPublicUrl(url);
    expect(url.href).toBe('https://example.com./');
  });

  it.each([
    ...[
      'ftp://example.com/',
      'file:///etc/passwd',
      'data:text/plain,hi',
      'javascript:1',
      'ws://example.com/',
      'blob:https://example.com/1',
    ],
    ...['http://user@example.com/', 'http://user:pass@example.com/', 'http://:pass@example.com/', 'http://example.com@127.0.0.1/'],
    ...[
      'http://localhost/',
      'http://LOCALHOST/',
      'http://localhost./',
      'http://a.localhost/',
      'http://a.localhost../',
      'http://localhost.localdomain/',
    ],
    ...[
      'http://printer.local/',
      'http://db.internal/',
      'http://db.internal./',
      'http://nas.lan/',
      'http://x.home.arpa/',
      'http://x.corp/',
      'http://x.intranet/',
    ],
    ...[
      'http://metadata.google.internal/',
      'http://metadata.goog/',
      'http://metadata/',
      'http://metadata.tencentyun.com/',
      'http://METADATA.tencentyun.com./',
      'http://metadata.packet.net/',
      'http://metadata.platformequinix.com/',
      'http://instance-data/',
      'http://redis:6379/',
    ],
    ...[
      'http://127.0.0.1/',
      'http://127.1/',
      'http://0x7f.1/',
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://0/',
      'http://127.0.0.1./',
      'http://0x7f000001/',
    ],
    ...[
      'http://①②⑦.⓪.⓪.①/',
      'http://127。0。0。1/',
      'http://%6c%6f%63%61%6c%68%6f%73%74/',
      'http://ｌｏｃａｌｈｏｓｔ/',
      'http://loca\u00adlhost/',
    ],
    ...[
      'http://169.254.169.254/latest/meta-data/',
      'http://100.100.100.200/',
      'http://168.63.129.16/',
      'http://192.0.0.192/',
      'http://[fd00:ec2::254]/',
    ],
    ...[
      'http://[::1]/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:8.8.8.8]/',
      'http://[fe80::1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://./',
    ],
    ...[
      'http://hidden.onion/',
      'http://x.test/',
      'http://x.invalid/',
      'http://x.alt/',
      'http://1.168.192.in-addr.arpa/',
      'http://resolver.arpa/',
      'http://kubernetes.default.svc/',
      'http://db.consul/',
      'http://host.docker/',
    ],
    ...[
      'http://a..example.com/',
      'http://.example.com/',
      'http://*.example.com/',
      'http://a;b.example.com/',
      `http://${'a'.repeat(64)}.example.com/`,
      `http://${'a.'.repeat(125)}example.com/`,
    ],
  ])('refuses %s', (text) => expect(check(text)).toBeUndefined());

  /** One part of an IPv4 address in each spelling that a URL takes. */
  const spell = (value: number) =>
    fc.constantFrom(String(value), `0${value.toString(8)}`, `0x${value.toString(16)}`, `0X00${value.toString(16).toUpperCase()}`);
  /** An address in each form: one to four parts, of which the last takes up the rest. */
  const spelledAddress = fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 1, max: 4 })).chain(([value, count]) => {
    const octets = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
    const rest = value % 2 ** (8 * (5 - count));
    const parts = [...octets.slice(0, count - 1), rest].map(spell);
    return fc.tuple(...parts).map((spelled) => ({ octets, spelled: spelled.join('.') }));
  });
  const fullWidth = (text: string) => text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))).replaceAll('.', '。');
  const percents = (text: string) => text.replace(/[0-9.]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  const disguise = fc.constantFrom(
    (text: string) => text,
    fullWidth,
    percents,
    (text: string) => `${text}.`,
  );

  it('judges an IPv4 address by what it is, however it is spelled', () => {
    fc.assert(
      fc.property(spelledAddress, disguise, ({ octets, spelled }, change) => {
        const plain = octets.join('.');
        const checked = check(`http://${change(spelled)}/`);
        if (isPublicAddress(plain)) expect(checked).toMatchObject({ url: { hostname: plain }, host: { kind: 'address' } });
        else expect(checked).toBeUndefined();
      }),
    );
  });

  it('refuses each IPv4 address inside an IPv6 one, in either spelling', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'), (v4, prefix) => {
        const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
        expect(check(`http://[${prefix}${v4}]/`)).toBeUndefined();
        expect(check(`http://[${prefix}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}]/`)).toBeUndefined();
      }),
    );
  });
});
