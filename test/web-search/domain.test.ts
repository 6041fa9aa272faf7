import { describe, expect, it } from 'vitest';
import { allowsHost, parseDomain } from '../../src/web-search/domain.ts';

describe('parseDomain', () => {
  it.each([
    ['example.com', 'example.com'],
    [' Example.COM. ', 'example.com'],
    ['www.example.com', 'example.com'],
    ['https://www.example.com/', 'example.com'],
    ['http://blog.example.com', 'blog.example.com'],
    ['*.example.com', 'example.com'],
    ['.gov', 'gov'],
    ['gov', 'gov'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['my_site.example', 'my_site.example'],
    ['www.com', 'com'],
  ])('reads %j as %s', (text, domain) => expect(parseDomain(text)).toBe(domain));

  it.each([
    '',
    ' ',
    '.',
    '*',
    '*.*.example.com',
    'a b',
    'example.com/blog',
    'https://example.com/?q=1',
    'https://example.com/#top',
    'example.com:8080',
    'me@example.com',
    'ftp://example.com',
    'a..b',
    'example.com\nsite=evil.example',
    '$site=x',
    'a,b',
    '[::1]',
    `${'a.'.repeat(200)}com`,
  ])('does not read %j', (text) => expect(parseDomain(text)).toBeUndefined());
});

describe('allowsHost', () => {
  it.each<[string, string[], string[], boolean]>([
    ['example.com', [], [], true],
    ['example.com', ['example.com'], [], true],
    ['blog.example.com', ['example.com'], [], true],
    ['blog.example.com.', ['example.com'], [], true],
    ['notexample.com', ['example.com'], [], false],
    ['example.com.evil.example', ['example.com'], [], false],
    ['nasa.gov', ['gov'], [], true],
    ['example.com', ['blog.example.com'], [], false],
    ['example.com', [], ['example.com'], false],
    ['blog.example.com', [], ['example.com'], false],
    ['example.com', [], ['blog.example.com'], true],
    ['blog.example.com', ['example.com'], ['blog.example.com'], false],
    ['example.com', ['example.com'], ['example.com'], false],
  ])('%s with %j and without %j: %s', (host, includeDomains, excludeDomains, allowed) => {
    expect(allowsHost(host, { includeDomains, excludeDomains })).toBe(allowed);
  });
});
