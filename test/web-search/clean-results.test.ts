import { describe, expect, it } from 'vitest';
import { cleanResults } from '../../src/web-search/clean-results.ts';
import type { FoundPage, SearchQuery } from '../../src/web-search/search-provider.ts';
import { PLAIN_QUERY } from '../support/search-query.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const QUERY: SearchQuery = { ...PLAIN_QUERY, maxResults: 3 };
const page = (parts: Partial<FoundPage>): FoundPage => ({ title: 'T', url: 'https://a.example/', snippet: 'S', date: '', ...parts });
const clean = (pages: Partial<FoundPage>[], query: Partial<SearchQuery> = {}) => cleanResults(pages.map(page), { ...QUERY, ...query }, NOW);

describe('cleanResults', () => {
  it.each([
    '',
    'no address',
    '/relative',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'ftp://a.example/',
    'file:///etc/passwd',
    'https://bank.example@evil.example/',
    'https://:password@evil.example/',
    `https://a.example/${'x'.repeat(2_048)}`,
    `https://a.example/${'é'.repeat(1_000)}`,
  ])('leaves out %j', (url) => expect(clean([{ url }])).toEqual([]));

  it('keeps each address once, in its canonical spelling', () => {
    expect(
      clean([{ url: 'HTTPS://A.example' }, { url: 'https://a.example/' }, { url: 'http://a.example/' }]).map(({ url }) => url),
    ).toEqual(['https://a.example/', 'http://a.example/']);
  });

  it('fills up with what comes later when something is left out', () => {
    const pages = ['x:', 'https://b.example/', 'https://1.example/', 'https://2.example/', 'https://3.example/', 'https://4.example/'];
    expect(
      clean(
        pages.map((url) => ({ url })),
        { excludeDomains: ['b.example'] },
      ).map(({ url }) => url),
    ).toEqual(['https://1.example/', 'https://2.example/', 'https://3.example/']);
  });

  it('bounds every text', () => {
    const [result] = clean([{ title: 't'.repeat(5_000), snippet: 's'.repeat(50_000), date: 'd'.repeat(500) }]);
    expect([result?.title.length, result?.snippet.length, result?.date?.length]).toEqual([300, 1_000, 60]);
  });

  it('shows plain text alone', () => {
    expect(clean([{ title: '<b>Cats</b>', snippet: '<em>ca</em>ts &amp; dogs' }])).toEqual([
      { title: 'Cats', url: 'https://a.example/', snippet: 'cats & dogs', date: null },
    ]);
  });

  it.each([
    ['', null],
    ['2 days ago', '2026-11-28'],
    ['vor 2 Tagen', 'vor 2 Tagen'],
  ])('shows the date %j as %j', (date, shown) => expect(clean([{ date }])[0]?.date).toBe(shown));

  it('shows the host of a page without a title', () => expect(clean([{ title: '<b> </b>' }])[0]?.title).toBe('a.example'));
});
