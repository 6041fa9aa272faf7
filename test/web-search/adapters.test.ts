import { describe, expect, it } from 'vitest';
import { createWebSearch } from '../../src/web-search/create-web-search.ts';
import type { SearchProviderName, SearchQuery } from '../../src/web-search/search-provider.ts';
import { PLAIN_QUERY } from '../support/search-query.ts';
import { createSearchApis, PROVIDER_NAMES, STAND_INS } from '../support/search-stand-ins.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const never = new AbortController().signal;

const FULL: Partial<SearchQuery> = {
  maxResults: 20,
  country: 'DE',
  language: 'de',
  timeRange: 'week',
  includeDomains: ['news.example', 'pets.example'],
  excludeDomains: ['zoo.example'],
  safeSearch: 'strict',
};

/** What a provider alone answers to a query, and the parameters of the one request that it got. */
async function search(name: SearchProviderName, query: Partial<SearchQuery> = {}) {
  const apis = createSearchApis();
  const webSearch = createWebSearch({ providers: [STAND_INS[name].config], fetch: apis.fetch, now: () => NOW, log: { warn: () => {} } });
  const answer = await webSearch('key-1')({ ...PLAIN_QUERY, ...query }, { signal: never });
  expect(apis.requests).toHaveLength(1);
  const [request] = apis.requests as [Request];
  const url = new URL(request.url);
  const parameters: unknown = request.method === 'GET' ? Object.fromEntries(url.searchParams) : await request.json();
  return { answer, path: url.pathname, parameters, request };
}

const CATS = { title: 'Cats', url: 'https://www.pets.example/cats', snippet: 'All about cats.' };
const LIONS = { title: 'Lions', url: 'https://zoo.example/lions', snippet: 'Big ones', date: null };
const MAYOR = { title: 'Cat elected mayor', url: 'https://news.example/mayor', snippet: 'A town has decided.' };
const ONE_QUERY = { queries_used: 1, credits_used: null, search_cost_usd: null };

describe.each(PROVIDER_NAMES)('%s', (name) => {
  it('is asked with the least, without following redirects', async () => {
    const { answer, request } = await search(name);
    expect(answer).toMatchObject({ provider: name, ignored: [], cached: false, usage: { queries_used: 1 } });
    expect(answer.results.length).toBeGreaterThan(0);
    expect(request.redirect).toBe('manual');
    expect(request.url).not.toContain('secret');
  });

  it.each(['web', 'news'] as const)('takes everything that a %s search may say', async (searchType) => {
    const { answer } = await search(name, { ...FULL, searchType });
    expect(answer.provider).toBe(name);
  });

  it('keeps to the domains that were asked for, whatever the provider does with them', async () => {
    const only = await search(name, { includeDomains: ['pets.example'] });
    expect(only.answer.results.map(({ url }) => url)).toEqual(['https://www.pets.example/cats']);
    const without = await search(name, { excludeDomains: ['pets.example'] });
    expect(without.answer.results.map(({ url }) => url)).not.toContain('https://www.pets.example/cats');
    expect(without.answer.results.length).toBeGreaterThan(0);
  });

  it('gives no more results than were asked for', async () => {
    expect((await search(name, { maxResults: 1 })).answer.results).toHaveLength(1);
  });

  it('takes the longest query', async () => {
    await search(name, { query: `${'word '.repeat(99)}end` });
    await search(name, { query: 'x'.repeat(500) });
    await search(name, { query: '🐈'.repeat(250) });
  });

  it.each(['JP', 'ZA', 'XK'])('takes any country, such as %s', async (country) => {
    await search(name, { country });
  });
  it.each(['en', 'en-GB', 'zh-TW', 'zh', 'ja', 'no', 'pt', 'pt-PT', 'xx', 'zh-Hant', 'haw'])(
    'takes any language, such as %s',
    async (language) => {
      await search(name, { language });
    },
  );
});

describe('Brave', () => {
  it('searches the web', async () => {
    const { answer, path, parameters } = await search('brave', FULL);
    expect(path).toBe('/res/v1/web/search');
    expect(parameters).toEqual({
      q: 'cats',
      count: '20',
      country: 'DE',
      search_lang: 'de',
      safesearch: 'strict',
      freshness: 'pw',
      goggles: '$discard\n$site=news.example\n$site=pets.example\n$discard,site=zoo.example',
      result_filter: 'web',
      text_decorations: 'false',
    });
    expect(answer).toMatchObject({
      results: [{ ...CATS, title: 'Cats & dogs', date: '2023-04-12T14:22:41.000Z' }],
      ignored: [],
      usage: ONE_QUERY,
    });
  });

  it('turns the age of a page into a date', async () => {
    expect((await search('brave')).answer.results[1]).toEqual({ ...LIONS, date: '2026-11-28' });
  });

  it('searches the news', async () => {
    const { answer, path } = await search('brave', { searchType: 'news' });
    expect(path).toBe('/res/v1/news/search');
    expect(answer.results).toEqual([{ ...MAYOR, date: '2026-11-30T10:00:00.000Z' }]);
  });

  it('is told countries and languages by its own names, and none that it does not list', async () => {
    expect((await search('brave', { language: 'ja', country: 'JP' })).parameters).toMatchObject({ search_lang: 'jp', country: 'JP' });
    expect((await search('brave', { language: 'zh-TW' })).parameters).toMatchObject({ search_lang: 'zh-hant' });
    expect((await search('brave', { language: 'pt' })).parameters).toMatchObject({ search_lang: 'pt-br' });
    expect((await search('brave', { language: 'de-AT' })).parameters).toMatchObject({ search_lang: 'de' });
    const { answer, parameters } = await search('brave', { language: 'haw', country: 'XK' });
    expect(parameters).not.toHaveProperty('search_lang');
    expect(parameters).not.toHaveProperty('country');
    expect(answer.ignored).toEqual(['country', 'language']);
  });

  it('is told as many whole words as it takes', async () => {
    const { parameters } = await search('brave', { query: `${'longer '.repeat(70)}` });
    expect(parameters).toMatchObject({ q: Array(50).fill('longer').join(' ') });
    expect((await search('brave', { query: `${'x'.repeat(390)} yyyyyyyyyyyy z` })).parameters).toMatchObject({ q: 'x'.repeat(390) });
  });
});

describe('Tavily', () => {
  it('searches the web', async () => {
    const { answer, path, parameters } = await search('tavily', { ...FULL, includeDomains: ['pets.example'] });
    expect(path).toBe('/search');
    expect(parameters).toEqual({
      query: 'cats',
      search_depth: 'basic',
      topic: 'general',
      max_results: 20,
      time_range: 'week',
      country: 'germany',
      include_domains: ['pets.example'],
      exclude_domains: ['zoo.example'],
      include_usage: true,
    });
    expect(answer).toMatchObject({
      results: [{ ...CATS, date: null }],
      ignored: ['language', 'filters.safe_search'],
      usage: { queries_used: 1, credits_used: 1, search_cost_usd: null },
    });
  });

  it('searches the news, for which it takes no country', async () => {
    const { answer, parameters } = await search('tavily', { searchType: 'news', country: 'US' });
    expect(parameters).toEqual({ query: 'cats', search_depth: 'basic', topic: 'news', max_results: 5, include_usage: true });
    expect(answer.results[1]).toEqual({ ...MAYOR, date: '2026-11-30T10:00:00.000Z' });
    expect(answer.ignored).toEqual(['country']);
  });

  it.each([
    ['GB', 'united kingdom'],
    ['CZ', 'czech republic'],
    ['US', 'united states'],
  ])('is told %s as %s', async (country, name) => {
    expect((await search('tavily', { country })).parameters).toMatchObject({ country: name });
  });
});

describe('Serper', () => {
  it('searches the web', async () => {
    const { answer, path, parameters } = await search('serper', FULL);
    expect(path).toBe('/search');
    expect(parameters).toEqual({
      q: 'cats (site:news.example OR site:pets.example) -site:zoo.example',
      num: 20,
      gl: 'de',
      hl: 'de',
      tbs: 'qdr:w',
    });
    expect(answer).toMatchObject({ results: [{ ...CATS, date: '2024-01-05' }], ignored: ['filters.safe_search'], usage: ONE_QUERY });
  });

  it('searches the news', async () => {
    const { answer, path } = await search('serper', { searchType: 'news' });
    expect(path).toBe('/news');
    expect(answer.results).toEqual([{ ...MAYOR, date: '2026-11-16' }]);
  });
});

describe('Exa', () => {
  it('searches the web', async () => {
    const { answer, path, parameters } = await search('exa', FULL);
    expect(path).toBe('/search');
    expect(parameters).toEqual({
      query: 'cats',
      type: 'auto',
      numResults: 20,
      contents: { highlights: true },
      userLocation: 'DE',
      startPublishedDate: '2026-11-23T12:00:00.000Z',
      includeDomains: ['news.example', 'pets.example'],
      excludeDomains: ['zoo.example'],
      moderation: true,
    });
    expect(answer).toMatchObject({
      results: [{ ...CATS, snippet: 'All about cats. … They purr.', date: '2023-11-16T01:36:32.547Z' }],
      ignored: ['language'],
      usage: { queries_used: 1, credits_used: null, search_cost_usd: 0.005 },
    });
  });

  it('searches the news, and shows a page without a title by its host', async () => {
    const { answer, parameters } = await search('exa', { searchType: 'news', safeSearch: 'off' });
    expect(parameters).toMatchObject({ category: 'news', moderation: false });
    expect(answer.results[1]).toEqual({ ...LIONS, title: 'zoo.example' });
  });
});

describe('SearXNG', () => {
  it('searches the web', async () => {
    const { answer, path, parameters } = await search('searxng', FULL);
    expect(path).toBe('/searx/search');
    expect(parameters).toEqual({
      q: 'cats (site:news.example OR site:pets.example)',
      format: 'json',
      categories: 'general',
      language: 'de-DE',
      time_range: 'week',
      safesearch: '2',
    });
    expect(answer).toMatchObject({ results: [{ ...CATS, date: '2023-04-12T14:22:41.000Z' }], ignored: [], usage: ONE_QUERY });
  });

  it('searches the news, and ignores a country without a language', async () => {
    const { answer, parameters } = await search('searxng', { searchType: 'news', country: 'FR', includeDomains: ['zoo.example'] });
    expect(parameters).toEqual({ q: 'cats site:zoo.example', format: 'json', categories: 'news' });
    expect(answer).toMatchObject({ results: [LIONS], ignored: ['country'] });
  });

  it('ignores a language that an instance would stumble over', async () => {
    expect((await search('searxng', { language: 'zh-Hant' })).parameters).toMatchObject({ language: 'zh' });
    expect((await search('searxng', { language: 'pt-BR', country: 'PT' })).answer.ignored).toEqual(['country']);
  });
});
