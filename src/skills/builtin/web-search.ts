import * as z from 'zod';
import { withoutNulls } from '../../json.ts';
import { parseDomain } from '../../web-search/domain.ts';
import { PROVIDER_TIMEOUT_MS, SAFE_SEARCH_LEVELS, SEARCH_PROVIDERS, SEARCH_TYPES, TIME_RANGES } from '../../web-search/search-provider.ts';
import { defineSkill } from '../define.ts';
import { missing } from './input-fields.ts';

const MAX_QUERY_CHARACTERS = 500;
const MAX_DOMAINS = 20;
const MISSING_QUERY = 'Missing required field: query';

/** Each provider has its own time, so that the last of them still answers. */
const TIMEOUT_MS = SEARCH_PROVIDERS.length * PROVIDER_TIMEOUT_MS + 5_000;

/** ISO 3166-1 has GB for what is often called UK. */
const canonicalCountry = (code: string) => (code.toUpperCase() === 'UK' ? 'GB' : code.toUpperCase());

const domain = z.string().transform((text, context) => {
  const parsed = parseDomain(text);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: `Not a domain: ${text}` });
  return z.NEVER;
});
const domains = z
  .array(domain)
  .max(MAX_DOMAINS)
  .default([])
  .transform((list) => [...new Set(list)].sort());

const filters = z.object({
  include_domains: domains.describe('Only results of these domains.'),
  exclude_domains: domains.describe('No results of these domains.'),
  safe_search: z.enum(SAFE_SEARCH_LEVELS).optional(),
});

export const webSearch = defineSkill({
  name: 'web_search',
  version: '1.0.0',
  description: 'Search the web or the news and return titles, links and snippets.',
  tags: ['web', 'search', 'news'],
  mode: 'on',
  policy: 'auto',
  idempotent: true,
  timeoutMs: TIMEOUT_MS,
  input: z.object({
    query: z
      .string({ error: missing(MISSING_QUERY) })
      .trim()
      .min(1, MISSING_QUERY)
      .max(MAX_QUERY_CHARACTERS, `Query must be ${MAX_QUERY_CHARACTERS} characters or fewer`)
      .describe('What to search for.'),
    max_results: z.int().min(1).max(20).default(5).describe('Number of results.'),
    search_type: z.enum(SEARCH_TYPES).default('web'),
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/, 'country: Use a two-letter country code such as US')
      .transform(canonicalCountry)
      .optional()
      .describe('Two-letter country code, such as US.'),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,3}(-([A-Za-z]{2}|[A-Za-z]{4}))?$/, 'language: Use a language code such as en or pt-BR')
      .transform((code) => Intl.getCanonicalLocales(code)[0])
      .optional()
      .describe('Language code, such as en.'),
    time_range: z.enum(TIME_RANGES).default('any').describe('How old results may be.'),
    filters: z.preprocess(withoutNulls, filters).optional(),
  }),
  output: z.object({
    success: z.literal(true),
    provider: z.string(),
    query: z.string(),
    results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string(), date: z.string().nullable() })),
    ignored: z.array(z.string()).describe('Fields of the input that the provider has no word for.'),
    cached: z.boolean(),
    usage: z.object({
      queries_used: z.int(),
      credits_used: z.number().nullable(),
      search_cost_usd: z.number().nullable(),
    }),
  }),
  isReadOnly: () => true,
  async execute({ query, max_results, search_type, country, language, time_range, filters }, { webSearch, signal }) {
    const search = {
      query,
      maxResults: max_results,
      searchType: search_type,
      country,
      language,
      timeRange: time_range,
      includeDomains: filters?.include_domains ?? [],
      excludeDomains: filters?.exclude_domains ?? [],
      safeSearch: filters?.safe_search,
    };
    const { provider, results, ignored, cached, usage } = await webSearch(search, { signal });
    return { success: true, provider, query, results: results.map((result) => ({ ...result })), ignored, cached, usage: { ...usage } };
  },
});
