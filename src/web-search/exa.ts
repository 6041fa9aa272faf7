import { asArray, asText, isJsonObject, objectsOf } from '../json.ts';
import { ignoredOf, type SearchAdapter } from './search-provider.ts';

const DAY_MS = 86_400_000;
const DAYS = { day: 1, week: 7, month: 31, year: 365 } as const;

/**
 * Exa: POST /search, with the excerpts that fit the query.
 * Source: exa.ai/docs/reference/search and .../search-best-practices, github.com/exa-labs/openapi-spec (exa-openapi-spec.yaml).
 */
export const exa: SearchAdapter = {
  buildRequest(query, { baseUrl, apiKey, now }) {
    const body = {
      query: query.query,
      type: 'auto',
      numResults: query.maxResults,
      contents: { highlights: true },
      ...(query.searchType === 'news' && { category: 'news' }),
      ...(query.country !== undefined && { userLocation: query.country }),
      ...(query.timeRange !== 'any' && { startPublishedDate: new Date(now - DAYS[query.timeRange] * DAY_MS).toISOString() }),
      ...(query.includeDomains.length > 0 && { includeDomains: query.includeDomains }),
      ...(query.excludeDomains.length > 0 && { excludeDomains: query.excludeDomains }),
      ...(query.safeSearch !== undefined && { moderation: query.safeSearch !== 'off' }),
    };
    return {
      url: new URL(`${baseUrl}/search`),
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify(body),
      ignored: ignoredOf({ country: false, language: query.language !== undefined, 'filters.safe_search': false }),
    };
  },
  readAnswer({ results, costDollars }) {
    if (!Array.isArray(results)) return undefined;
    const pages = objectsOf(results).map(({ title, url, highlights, text, publishedDate }) => ({
      title: asText(title),
      url: asText(url),
      snippet: asArray(highlights).map(asText).filter(Boolean).join(' … ') || asText(text),
      date: asText(publishedDate),
    }));
    const total = isJsonObject(costDollars) ? costDollars.total : undefined;
    return { pages, ...(typeof total === 'number' && { costUsd: total }) };
  },
};
