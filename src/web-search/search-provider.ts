import type { JsonObject } from '../json.ts';

export const SEARCH_PROVIDERS = ['brave', 'tavily', 'serper', 'exa', 'searxng'] as const;
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];

/** What one provider is given to answer in. */
export const PROVIDER_TIMEOUT_MS = 8_000;

export const TIME_RANGES = ['any', 'day', 'week', 'month', 'year'] as const;
export const SEARCH_TYPES = ['web', 'news'] as const;
export const SAFE_SEARCH_LEVELS = ['off', 'moderate', 'strict'] as const;

export type TimeRange = (typeof TIME_RANGES)[number];

/** What to search for. Countries, languages and domains are in their canonical spelling. */
export interface SearchQuery {
  /** 1 to 500 characters. */
  query: string;
  /** 1 to 20. */
  maxResults: number;
  searchType: (typeof SEARCH_TYPES)[number];
  /** ISO 3166-1 alpha-2, upper case. */
  country: string | undefined;
  /** BCP 47, such as `en` or `pt-BR`. */
  language: string | undefined;
  timeRange: TimeRange;
  /** Each stands for its subdomains as well. */
  includeDomains: readonly string[];
  excludeDomains: readonly string[];
  safeSearch: (typeof SAFE_SEARCH_LEVELS)[number] | undefined;
}

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
  /** ISO 8601 where the provider's date can be understood, else its own words. */
  date: string | null;
}

/** What an answer has cost; null is what the provider does not tell, and an answer from the cache costs nothing. */
export interface SearchUsage {
  queries_used: number;
  credits_used: number | null;
  search_cost_usd: number | null;
}

export interface SearchAnswer {
  provider: string;
  results: SearchResult[];
  /** Fields of the query that the provider has no word for. */
  ignored: string[];
  cached: boolean;
  usage: SearchUsage;
}

/** Searches on behalf of one API key. Rejects with a SkillError when nobody answers, and with the signal's reason when it fires. */
export type WebSearch = (query: SearchQuery, options: { signal: AbortSignal }) => Promise<SearchAnswer>;

/** A page as a provider tells it: nothing of it is trusted yet. */
export interface FoundPage {
  title: string;
  url: string;
  snippet: string;
  date: string;
}

export type IgnoredField = 'country' | 'language' | 'filters.safe_search';

export interface ProviderRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  ignored: IgnoredField[];
}

export interface ProviderAnswer {
  pages: FoundPage[];
  creditsUsed?: number;
  costUsd?: number;
}

export interface ProviderAccess {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** One provider's API. Pure: it says what to ask and reads what came back. */
export interface SearchAdapter {
  buildRequest(query: SearchQuery, access: ProviderAccess): ProviderRequest;
  /** Undefined when the body is not what the provider documents. */
  readAnswer(body: JsonObject, query: SearchQuery): ProviderAnswer | undefined;
  /** Why the provider refuses with 401 or 403, when that is not its key. */
  refusal?: string;
}

/** The fields that are set, of those that the provider has no word for. */
export const ignoredOf = (fields: Record<IgnoredField, boolean>): IgnoredField[] =>
  (Object.keys(fields) as IgnoredField[]).filter((field) => fields[field]);
