import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/json.ts';
import { webSearch } from '../../../src/skills/builtin/web-search.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { createWebSearch } from '../../../src/web-search/create-web-search.ts';
import type { SearchAnswer, SearchQuery } from '../../../src/web-search/search-provider.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createSkillContext } from '../../support/skill-context.ts';

const ANSWER: SearchAnswer = {
  provider: 'brave',
  results: [{ title: 'A', url: 'https://a.example/', snippet: 'about a', date: null }],
  ignored: [],
  cached: false,
  usage: { queries_used: 1, credits_used: null, search_cost_usd: null },
};

/** Calls the skill on a search that keeps what it was asked and answers with `ANSWER`. */
async function search(input: JsonValue) {
  const asked: { query: SearchQuery; signal: AbortSignal }[] = [];
  const context = createSkillContext({
    webSearch: async (query, { signal }) => {
      asked.push({ query, signal });
      return ANSWER;
    },
  });
  return { output: await callSkill(webSearch, input, context), asked, context };
}

describe('web_search', () => {
  it('answers with provider, query, results, what was ignored, whether it was cached, and usage', async () => {
    const { output, asked, context } = await search({ query: '  cats ' });
    expect(output).toEqual({ success: true, query: 'cats', ...ANSWER });
    expect(asked.map(({ signal }) => signal)).toEqual([context.signal]);
  });

  it('searches the whole web for five results when nothing else is said', async () => {
    const expected: SearchQuery = {
      query: 'cats',
      maxResults: 5,
      searchType: 'web',
      country: undefined,
      language: undefined,
      timeRange: 'any',
      includeDomains: [],
      excludeDomains: [],
      safeSearch: undefined,
    };
    expect((await search({ query: 'cats' })).asked[0]?.query).toEqual(expected);
    const nulls = { max_results: null, search_type: null, country: null, language: null, time_range: null, filters: null };
    expect((await search({ query: 'cats', ...nulls })).asked[0]?.query).toEqual(expected);
    expect((await search({ query: 'cats', filters: {} })).asked[0]?.query).toEqual(expected);
    const noFilters = { include_domains: null, exclude_domains: null, safe_search: null };
    expect((await search({ query: 'cats', filters: noFilters })).asked[0]?.query).toEqual(expected);
  });

  it('hands on all that was asked, in one spelling', async () => {
    const { asked } = await search({
      query: 'x'.repeat(500),
      max_results: 20,
      search_type: 'news',
      country: 'uk',
      language: 'PT-br',
      time_range: 'week',
      filters: {
        include_domains: ['https://www.Example.com/', 'example.com', '.gov', '*.bücher.example'],
        exclude_domains: ['b.example.com', 'a.example.com.'],
        safe_search: 'strict',
      },
    });
    expect(asked[0]?.query).toEqual({
      query: 'x'.repeat(500),
      maxResults: 20,
      searchType: 'news',
      country: 'GB',
      language: 'pt-BR',
      timeRange: 'week',
      includeDomains: ['example.com', 'gov', 'xn--bcher-kva.example'],
      excludeDomains: ['a.example.com', 'b.example.com'],
      safeSearch: 'strict',
    });
  });

  it.each([
    [{}, 'Missing required field: query'],
    [{ query: '' }, 'Missing required field: query'],
    [{ query: ' \n ' }, 'Missing required field: query'],
    [{ query: null }, 'Missing required field: query'],
    [{ query: 'x'.repeat(501) }, 'Query must be 500 characters or fewer'],
    [{ query: 1 }, 'query: Invalid input: expected string, received number'],
    [{ query: 'x', max_results: 0 }, 'max_results: Too small: expected number to be >=1'],
    [{ query: 'x', max_results: 21 }, 'max_results: Too big: expected number to be <=20'],
    [{ query: 'x', search_type: 'images' }, 'search_type: Invalid option: expected one of "web"|"news"'],
    [{ query: 'x', time_range: 'hour' }, 'time_range: Invalid option: expected one of "any"|"day"|"week"|"month"|"year"'],
    [{ query: 'x', country: 'Germany' }, 'country: Use a two-letter country code such as US'],
    [{ query: 'x', language: 'English' }, 'language: Use a language code such as en or pt-BR'],
    [{ query: 'x', language: 'zh-yue' }, 'language: Use a language code such as en or pt-BR'],
    [{ query: 'x', language: 'en-abc' }, 'language: Use a language code such as en or pt-BR'],
    [{ query: 'x', filters: { safe_search: 'on' } }, 'filters.safe_search: Invalid option: expected one of "off"|"moderate"|"strict"'],
    [{ query: 'x', filters: 'none' }, 'filters: Invalid input: expected object, received string'],
    [{ query: 'x', filters: { include_domains: ['example.com/blog'] } }, 'Not a domain: example.com/blog'],
    [{ query: 'x', filters: { exclude_domains: ['a b'] } }, 'Not a domain: a b'],
    [
      { query: 'x', filters: { include_domains: Array<string>(21).fill('example.com') } },
      'filters.include_domains: Too big: expected array to have <=20 items',
    ],
  ])('answers %j with its error', async (input, message) => {
    await expect(search(input)).rejects.toEqual(new SkillError(message));
  });

  it('says that no provider is configured, and how one is', async () => {
    const log = { warn: () => {} };
    const unconfigured = createWebSearch({ providers: [], fetch, now: () => 0, log });
    await expect(callSkill(webSearch, { query: 'x' }, createSkillContext({ webSearch: unconfigured('key-1') }))).rejects.toEqual(
      new SkillError(
        'No search provider is configured. The operator sets one of BRAVE_API_KEY, TAVILY_API_KEY, SERPER_API_KEY, EXA_API_KEY and ' +
          'SEARXNG_URL; a page whose address is known can be read with http_request instead.',
      ),
    );
  });
});
