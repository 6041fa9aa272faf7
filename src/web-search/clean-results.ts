import { allowsHost } from './domain.ts';
import { parseDate } from './parse-date.ts';
import { plainText } from './plain-text.ts';
import type { FoundPage, SearchQuery, SearchResult } from './search-provider.ts';

const MAX_TITLE_LENGTH = 300;
const MAX_SNIPPET_LENGTH = 1_000;
const MAX_URL_LENGTH = 2_048;
const MAX_DATE_LENGTH = 60;

function webUrl(text: string): URL | undefined {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text.trim());
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return url.username === '' && url.password === '' && url.href.length <= MAX_URL_LENGTH ? url : undefined;
}

/**
 * What a provider found, as it may be shown: plain text of bounded length, http and https addresses alone, each once, of the domains that
 * were asked for, and no more than were asked for. `now` is in milliseconds since 1970.
 */
export function cleanResults(pages: readonly FoundPage[], query: SearchQuery, now: number): SearchResult[] {
  const results = new Map<string, SearchResult>();
  for (const page of pages) {
    if (results.size === query.maxResults) break;
    const url = webUrl(page.url);
    if (url === undefined || results.has(url.href) || !allowsHost(url.hostname, query)) continue;
    const date = plainText(page.date, MAX_DATE_LENGTH);
    results.set(url.href, {
      title: plainText(page.title, MAX_TITLE_LENGTH) || url.hostname,
      url: url.href,
      snippet: plainText(page.snippet, MAX_SNIPPET_LENGTH),
      date: date === '' ? null : (parseDate(date, now) ?? date),
    });
  }
  return [...results.values()];
}
