import { asText, isJsonObject, objectsOf } from '../json.ts';
import { ignoredOf, type SearchAdapter } from './search-provider.ts';
import { fitQuery } from './shorten.ts';
import { tavilyCountry } from './tavily-country.ts';

/**
 * Tavily: POST /search. A basic search is one credit.
 * Source: docs.tavily.com/documentation/api-reference/endpoint/search; the limit of 400 characters: .../best-practices/best-practices-search.
 */
export const tavily: SearchAdapter = {
  buildRequest(query, { baseUrl, apiKey }) {
    // The country is for general searches only.
    const country = query.searchType === 'web' && query.country !== undefined ? tavilyCountry(query.country) : undefined;
    const body = {
      query: fitQuery(query.query, { maxLength: 400 }),
      search_depth: 'basic',
      topic: query.searchType === 'news' ? 'news' : 'general',
      max_results: query.maxResults,
      include_usage: true,
      ...(query.timeRange !== 'any' && { time_range: query.timeRange }),
      ...(country !== undefined && { country }),
      ...(query.includeDomains.length > 0 && { include_domains: query.includeDomains }),
      ...(query.excludeDomains.length > 0 && { exclude_domains: query.excludeDomains }),
    };
    return {
      url: new URL(`${baseUrl}/search`),
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify(body),
      ignored: ignoredOf({
        country: query.country !== undefined && country === undefined,
        language: query.language !== undefined,
        'filters.safe_search': query.safeSearch !== undefined,
      }),
    };
  },
  readAnswer({ results, usage }) {
    if (!Array.isArray(results)) return undefined;
    const pages = objectsOf(results).map(({ title, url, content, published_date }) => ({
      title: asText(title),
      url: asText(url),
      snippet: asText(content),
      date: asText(published_date),
    }));
    const credits = isJsonObject(usage) ? usage.credits : undefined;
    return { pages, ...(typeof credits === 'number' && { creditsUsed: credits }) };
  },
};
