import { asText, isJsonObject, objectsOf } from '../json.ts';
import { ignoredOf, type SearchAdapter, type SearchQuery } from './search-provider.ts';
import { fitQuery } from './shorten.ts';

const FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const;

/** Brave answers 422 for a country or a language that it does not list. */
const COUNTRIES = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(' '),
);
const LANGUAGES = new Set(
  (
    'ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ' +
    'ru sr sk sl es sv ta te th tr uk vi'
  ).split(' '),
);
/** Languages under the names that Brave has for them. */
const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  ja: 'jp',
  no: 'nb',
  pt: 'pt-br',
  zh: 'zh-hans',
  'zh-hk': 'zh-hant',
  'zh-mo': 'zh-hant',
  'zh-tw': 'zh-hant',
};

function languageOf({ language }: SearchQuery): string | undefined {
  const [full = '', base = ''] = [language?.toLowerCase(), language?.split('-')[0]?.toLowerCase()];
  return [full, base].map((name) => LANGUAGE_NAMES[name] ?? name).find((name) => LANGUAGES.has(name));
}

/** Inline rules, one a line: a lone `$discard` drops whatever no other rule names. */
function gogglesOf({ includeDomains, excludeDomains }: SearchQuery): string {
  const included = includeDomains.length === 0 ? [] : ['$discard', ...includeDomains.map((domain) => `$site=${domain}`)];
  return [...included, ...excludeDomains.map((domain) => `$discard,site=${domain}`)].join('\n');
}

/**
 * Brave Search: GET /web/search and /news/search.
 * Source: api-dashboard.search.brave.com/api-reference/web/search/get and .../news/news_search/get, and for the listed countries, languages
 * and Goggles github.com/brave/brave-search-mcp-server and github.com/brave/brave-search-skills.
 */
export const brave: SearchAdapter = {
  buildRequest(query, { baseUrl, apiKey }) {
    const url = new URL(`${baseUrl}/${query.searchType}/search`);
    const set = (name: string, value: string | undefined) => {
      if (value !== undefined && value !== '') url.searchParams.set(name, value);
    };
    const country = query.country !== undefined && COUNTRIES.has(query.country) ? query.country : undefined;
    const language = languageOf(query);
    set('q', fitQuery(query.query, { maxLength: 400, maxWords: 50 }));
    set('count', String(query.maxResults));
    set('country', country);
    set('search_lang', language);
    set('safesearch', query.safeSearch);
    if (query.timeRange !== 'any') set('freshness', FRESHNESS[query.timeRange]);
    set('goggles', gogglesOf(query));
    if (query.searchType === 'web') {
      set('result_filter', 'web');
      set('text_decorations', 'false');
    }
    return {
      url,
      method: 'GET',
      headers: { accept: 'application/json', 'x-subscription-token': apiKey },
      ignored: ignoredOf({
        country: query.country !== country,
        language: query.language !== undefined && language === undefined,
        'filters.safe_search': false,
      }),
    };
  },
  readAnswer(body, { searchType }) {
    if (body.type !== (searchType === 'news' ? 'news' : 'search')) return undefined;
    // A search that finds no page has no `web`.
    const holder = searchType === 'news' ? body : isJsonObject(body.web) ? body.web : {};
    return {
      pages: objectsOf(holder.results).map(({ title, url, description, page_age, age }) => ({
        title: asText(title),
        url: asText(url),
        snippet: asText(description),
        date: asText(page_age) || asText(age),
      })),
    };
  },
};
