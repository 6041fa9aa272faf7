import type { SearchProviderConfig } from '../env.ts';
import type { Logger } from '../logger.ts';
import { SkillError } from '../skills/define.ts';
import { askProvider, ProviderFailure, unreadable } from './ask-provider.ts';
import { brave } from './brave.ts';
import { cleanResults } from './clean-results.ts';
import { exa } from './exa.ts';
import { createSearchCache } from './search-cache.ts';
import {
  PROVIDER_TIMEOUT_MS,
  type SearchAdapter,
  type SearchAnswer,
  type SearchProviderName,
  type SearchQuery,
  type WebSearch,
} from './search-provider.ts';
import { searxng } from './searxng.ts';
import { serper } from './serper.ts';
import { tavily } from './tavily.ts';

const CACHE_TTL_MS = 5 * 60_000;
const CACHE_ENTRIES = 200;

const ADAPTERS: Readonly<Record<SearchProviderName, SearchAdapter>> = { brave, tavily, serper, exa, searxng };

const NOT_CONFIGURED =
  'No search provider is configured. The operator sets one of BRAVE_API_KEY, TAVILY_API_KEY, SERPER_API_KEY, EXA_API_KEY and SEARXNG_URL; ' +
  'a page whose address is known can be read with http_request instead.';

export interface WebSearchOptions {
  /** In the order in which they are asked. */
  providers: readonly SearchProviderConfig[];
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
  timeoutMs?: number;
}

/**
 * The search of one isolate, for each API key. A provider that fails in whatever way is logged and the next one is asked; an answer without
 * results is an answer. Answers are cached for five minutes for the key that asked alone, so that nobody learns from `cached` what others ask.
 */
export function createWebSearch({
  providers,
  fetch,
  now,
  log,
  timeoutMs = PROVIDER_TIMEOUT_MS,
}: WebSearchOptions): (apiKeyId: string) => WebSearch {
  const cache = createSearchCache<SearchAnswer>({ now, ttlMs: CACHE_TTL_MS, maxEntries: CACHE_ENTRIES });

  async function ask({ name, baseUrl, apiKey = '' }: SearchProviderConfig, query: SearchQuery, signal: AbortSignal): Promise<SearchAnswer> {
    const adapter = ADAPTERS[name];
    const request = adapter.buildRequest(query, { baseUrl, apiKey, now: now() });
    const body = await askProvider(request, { fetch, timeoutMs, refusal: adapter.refusal, signal });
    const answer = adapter.readAnswer(body, query);
    if (answer === undefined) throw unreadable();
    const usage = { queries_used: 1, credits_used: answer.creditsUsed ?? null, search_cost_usd: answer.costUsd ?? null };
    return { provider: name, results: cleanResults(answer.pages, query, now()), ignored: request.ignored, cached: false, usage };
  }

  return (apiKeyId) =>
    async (query, { signal }) => {
      const key = JSON.stringify([apiKeyId, query]);
      const known = cache.get(key);
      if (known !== undefined) {
        return { ...known, cached: true, usage: { queries_used: 0, credits_used: 0, search_cost_usd: 0 } };
      }
      const failures: ProviderFailure[] = [];
      for (const provider of providers) {
        try {
          const answer = await ask(provider, query, signal);
          cache.set(key, answer);
          return answer;
        } catch (error) {
          if (!(error instanceof ProviderFailure)) throw error;
          log.warn('skills.web_search.provider_failed', { provider: provider.name, reason: error.message });
          failures.push(error);
        }
      }
      if (failures.length === 0) throw new SkillError(NOT_CONFIGURED);
      const told = failures.map(({ message }, index) => `${providers[index]?.name} ${message}`);
      throw new SkillError(`The search failed: ${told.join('; ')}`, { transient: failures.some(({ transient }) => transient) });
    };
}
