import { asText, isJsonObject, objectsOf } from '../json.ts';
import { ignoredOf, type SearchAdapter } from './search-provider.ts';
import { withSiteOperators } from './site-operators.ts';

const TIME_FILTERS = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' } as const;

/** Google knows languages and regions of them, such as `pt-br`, but no scripts. */
const languageOf = (language: string): string =>
  (/^[a-z]+(-[A-Z]{2})?$/.test(language) ? language : (language.split('-')[0] ?? '')).toLowerCase();

/**
 * Serper, which asks Google: POST /search and /news.
 * Source: the playground and examples of serper.dev, written down as schemas in github.com/api-evangelist/serper (openapi, json-schema,
 * examples); domains by Google's own operators (support.google.com/websearch/answer/2466433).
 */
export const serper: SearchAdapter = {
  buildRequest(query, { baseUrl, apiKey }) {
    const body = {
      q: withSiteOperators(query.query, query),
      num: query.maxResults,
      ...(query.country !== undefined && { gl: query.country.toLowerCase() }),
      ...(query.language !== undefined && { hl: languageOf(query.language) }),
      ...(query.timeRange !== 'any' && { tbs: TIME_FILTERS[query.timeRange] }),
    };
    return {
      url: new URL(`${baseUrl}/${query.searchType === 'news' ? 'news' : 'search'}`),
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify(body),
      ignored: ignoredOf({ country: false, language: false, 'filters.safe_search': query.safeSearch !== undefined }),
    };
  },
  readAnswer(body, { searchType }) {
    const results = searchType === 'news' ? body.news : body.organic;
    // A search that finds nothing may leave its list out, but never the echo of what was asked.
    if (!Array.isArray(results) && !isJsonObject(body.searchParameters)) return undefined;
    return {
      pages: objectsOf(results).map(({ title, link, snippet, date }) => ({
        title: asText(title),
        url: asText(link),
        snippet: asText(snippet),
        date: asText(date),
      })),
    };
  },
};
