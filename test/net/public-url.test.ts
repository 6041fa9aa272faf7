import { describe, expect, it } from 'vitest';
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
  ])('refuses %s', (text) => expect(check(text)).toBeUndefined());
});
