import type { SearchQuery } from '../../src/web-search/search-provider.ts';

/** A search that asks for nothing in particular. */
export const PLAIN_QUERY: SearchQuery = {
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
