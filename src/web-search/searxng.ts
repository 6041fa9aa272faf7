import { asText, objectsOf } from '../json.ts';
import { ignoredOf, type SearchAdapter, type SearchQuery } from './search-provider.ts';
import { withSiteOperators } from './site-operators.ts';

const SAFE_SEARCH = { off: '0', moderate: '1', strict: '2' } as const;
/** What an instance takes for a language; for anything else it answers with an error. */
const LANGUAGE = /^[a-z]{2,3}(-[A-Z]{2})?$/;

/** The language with the country when it has none of its own; an instance knows no country without a language. */
function languageOf({ language, country }: SearchQuery): string | undefined {
  if (language === undefined) return undefined;
  const spelled = language.includes('-') || country === undefined ? language : `${language}-${country}`;
  return [spelled, language, language.split('-')[0] ?? ''].find((candidate) => LANGUAGE.test(candidate));
}

/**
 * SearXNG: GET /search with `format=json`, which an instance has to allow. It has no say in how many results a page has, and leaves operators
 * to the engines that it asks.
 * Source: docs.searxng.org/dev/search_api.html; languages and `time_range=week`: searx/webadapter.py in github.com/searxng/searxng.
 */
export const searxng: SearchAdapter = {
  refusal: 'does not allow JSON answers: its setting search.formats lacks json',
  buildRequest(query, { baseUrl }) {
    const url = new URL(`${baseUrl}/search`);
    const language = languageOf(query);
    // Whatever is excluded is taken out of the results: engines that do not know the operator would search for it.
    url.searchParams.set('q', withSiteOperators(query.query, { includeDomains: query.includeDomains, excludeDomains: [] }));
    url.searchParams.set('format', 'json');
    url.searchParams.set('categories', query.searchType === 'news' ? 'news' : 'general');
    if (language !== undefined) url.searchParams.set('language', language);
    if (query.timeRange !== 'any') url.searchParams.set('time_range', query.timeRange);
    if (query.safeSearch !== undefined) url.searchParams.set('safesearch', SAFE_SEARCH[query.safeSearch]);
    return {
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      ignored: ignoredOf({
        country: query.country !== undefined && language?.endsWith(`-${query.country}`) !== true,
        language: query.language !== undefined && language === undefined,
        'filters.safe_search': false,
      }),
    };
  },
  readAnswer({ results }) {
    if (!Array.isArray(results)) return undefined;
    return {
      pages: objectsOf(results).map(({ title, url, content, publishedDate }) => ({
        title: asText(title),
        url: asText(url),
        snippet: asText(content),
        date: asText(publishedDate),
      })),
    };
  },
};
