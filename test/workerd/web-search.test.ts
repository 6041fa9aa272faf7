import { describe, expect, it } from 'vitest';
import { cleanResults } from '../../src/web-search/clean-results.ts';
import { parseDomain } from '../../src/web-search/domain.ts';
import type { SearchQuery } from '../../src/web-search/search-provider.ts';
import { PLAIN_QUERY } from '../support/search-query.ts';

const QUERY: SearchQuery = { ...PLAIN_QUERY, includeDomains: ['xn--bcher-kva.example'] };

describe('in workerd', () => {
  it('search results are cleaned as in Node', () => {
    const pages = [
      { title: '<b>Kat\u{E0041}zen</b> 🐈', url: 'https://www.Bücher.example/ä', snippet: 'a &amp; b', date: '2 days ago' },
      { title: 'elsewhere', url: 'https://cats.example/', snippet: '', date: '' },
      { title: 'no page', url: 'javascript:alert(1)', snippet: '', date: '' },
    ];
    expect(cleanResults(pages, QUERY, Date.parse('2026-11-30T12:00:00Z'))).toEqual([
      { title: 'Katzen 🐈', url: 'https://www.xn--bcher-kva.example/%C3%A4', snippet: 'a & b', date: '2026-11-28' },
    ]);
    expect(parseDomain('*.bücher.example')).toBe('xn--bcher-kva.example');
  });
});
