import * as z from 'zod';
import type { SearchProviderConfig } from '../../src/env.ts';
import type { JsonObject } from '../../src/json.ts';
import type { SearchProviderName } from '../../src/web-search/search-provider.ts';

/**
 * Stand-ins of the providers' documented APIs: each checks method, path, key and every parameter as its provider's reference tells them,
 * refuses what is not in there, and answers with a body of the documented shape.
 */
interface StandIn {
  config: SearchProviderConfig;
  /** The key that came with a request. */
  keyOf(request: Request): string | null;
  refusedKey: () => Response;
  paths: Record<string, { method: 'GET' | 'POST'; parameters: z.ZodType; answer: JsonObject }>;
}

const refuse = (status: number, body: JsonObject) => () => Response.json(body, { status });
const domain = z.string().regex(/^[a-z0-9.-]+$/);
const integer = (minimum: number, maximum: number) => z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(minimum).max(maximum));

const braveCommon = {
  q: z
    .string()
    .min(1)
    .max(400)
    .refine((text) => text.split(/\s+/).length <= 50),
  country: z.enum(['ALL', 'AR', 'AT', 'BR', 'CH', 'DE', 'FR', 'GB', 'JP', 'PT', 'TW', 'US', 'ZA']).optional(),
  search_lang: z.enum(['de', 'en', 'en-gb', 'fr', 'jp', 'nb', 'pt-br', 'pt-pt', 'zh-hans', 'zh-hant']).optional(),
  safesearch: z.enum(['off', 'moderate', 'strict']).optional(),
  freshness: z.enum(['pd', 'pw', 'pm', 'py']).optional(),
  goggles: z.string().optional(),
};

const serperParameters = z.strictObject({
  q: z.string().min(1),
  num: z.int().min(1).max(100),
  gl: z
    .string()
    .regex(/^[a-z]{2}$/)
    .optional(),
  hl: z
    .string()
    .regex(/^[a-z]{2,3}(-[a-z]{2})?$/)
    .optional(),
  tbs: z.enum(['qdr:d', 'qdr:w', 'qdr:m', 'qdr:y']).optional(),
});

export const STAND_INS: Readonly<Record<SearchProviderName, StandIn>> = {
  brave: {
    config: { name: 'brave', baseUrl: 'https://brave.example/res/v1', apiKey: 'BSA-secret-key' },
    keyOf: (request) => request.headers.get('x-subscription-token'),
    refusedKey: refuse(422, { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID', status: 422 } }),
    paths: {
      '/res/v1/web/search': {
        method: 'GET',
        parameters: z.strictObject({
          ...braveCommon,
          count: integer(1, 20),
          result_filter: z.literal('web'),
          text_decorations: z.literal('false'),
        }),
        answer: {
          type: 'search',
          query: { original: 'cats', more_results_available: true },
          web: {
            type: 'search',
            results: [
              {
                title: 'Cats &amp; dogs',
                url: 'https://www.pets.example/cats',
                description: 'All about <strong>cats</strong>.',
                age: 'April 12, 2023',
                page_age: '2023-04-12T14:22:41',
                language: 'en',
                meta_url: { hostname: 'www.pets.example' },
              },
              { title: 'Lions', url: 'https://zoo.example/lions', description: 'Big ones', age: '2 days ago' },
            ],
            family_friendly: true,
          },
        },
      },
      '/res/v1/news/search': {
        method: 'GET',
        parameters: z.strictObject({ ...braveCommon, count: integer(1, 50) }),
        answer: {
          type: 'news',
          query: { original: 'cats' },
          results: [
            {
              type: 'news_result',
              title: 'Cat elected mayor',
              url: 'https://news.example/mayor',
              description: 'A town has decided.',
              age: '2 hours ago',
              page_age: '2026-11-30T10:00:00',
              breaking: false,
            },
          ],
        },
      },
    },
  },
  tavily: {
    config: { name: 'tavily', baseUrl: 'https://tavily.example', apiKey: 'tvly-secret-key' },
    keyOf: (request) => request.headers.get('authorization')?.replace('Bearer ', '') ?? null,
    refusedKey: refuse(401, { detail: { error: 'Unauthorized: missing or invalid API key.' } }),
    paths: {
      '/search': {
        method: 'POST',
        parameters: z
          .strictObject({
            query: z.string().min(1).max(400),
            search_depth: z.enum(['basic', 'advanced', 'fast', 'ultra-fast']),
            topic: z.enum(['general', 'news', 'finance']),
            max_results: z.int().min(0).max(20),
            time_range: z.enum(['day', 'week', 'month', 'year']).optional(),
            include_domains: z.array(domain).max(300).optional(),
            exclude_domains: z.array(domain).max(150).optional(),
            country: z.enum(['czech republic', 'germany', 'japan', 'south africa', 'united kingdom', 'united states']).optional(),
            include_usage: z.boolean(),
          })
          .refine(({ topic, country }) => topic === 'general' || country === undefined),
        answer: {
          query: 'cats',
          answer: null,
          images: [],
          results: [
            { title: 'Cats', url: 'https://www.pets.example/cats', content: 'All about cats.', score: 0.98, raw_content: null },
            {
              title: 'Cat elected mayor',
              url: 'https://news.example/mayor',
              content: 'A town has decided.',
              score: 0.9,
              published_date: 'Mon, 30 Nov 2026 10:00:00 GMT',
            },
          ],
          response_time: 1.2,
          usage: { credits: 1 },
          request_id: '123e4567-e89b-12d3-a456-426614174111',
        },
      },
    },
  },
  serper: {
    config: { name: 'serper', baseUrl: 'https://serper.example', apiKey: 'serper-secret-key' },
    keyOf: (request) => request.headers.get('x-api-key'),
    refusedKey: refuse(403, { message: 'Unauthorized.', statusCode: 403 }),
    paths: {
      '/search': {
        method: 'POST',
        parameters: serperParameters,
        answer: {
          searchParameters: { q: 'cats', type: 'search', num: 10 },
          knowledgeGraph: { title: 'Cat', type: 'Animal' },
          organic: [
            {
              title: 'Cats',
              link: 'https://www.pets.example/cats',
              snippet: 'All about cats.',
              date: 'Jan 5, 2024',
              position: 1,
              sitelinks: [{ title: 'More', link: 'https://www.pets.example/more' }],
            },
            { title: 'Lions', link: 'https://zoo.example/lions', snippet: 'Big ones', position: 2 },
          ],
          relatedSearches: [{ query: 'dogs' }],
        },
      },
      '/news': {
        method: 'POST',
        parameters: serperParameters,
        answer: {
          searchParameters: { q: 'cats', type: 'news' },
          news: [
            {
              title: 'Cat elected mayor',
              link: 'https://news.example/mayor',
              snippet: 'A town has decided.',
              date: '2 weeks ago',
              source: 'News',
              position: 1,
            },
          ],
        },
      },
    },
  },
  exa: {
    config: { name: 'exa', baseUrl: 'https://exa.example', apiKey: 'exa-secret-key' },
    keyOf: (request) => request.headers.get('x-api-key'),
    refusedKey: refuse(401, { error: 'Invalid API key', tag: 'INVALID_API_KEY' }),
    paths: {
      '/search': {
        method: 'POST',
        parameters: z.strictObject({
          query: z.string().min(1),
          type: z.enum(['neural', 'fast', 'auto', 'deep']),
          numResults: z.int().min(1).max(100),
          category: z.enum(['company', 'research paper', 'news', 'people']).optional(),
          userLocation: z
            .string()
            .regex(/^[A-Z]{2}$/)
            .optional(),
          includeDomains: z.array(domain).max(1_200).optional(),
          excludeDomains: z.array(domain).max(1_200).optional(),
          startPublishedDate: z.iso.datetime().optional(),
          moderation: z.boolean().optional(),
          contents: z.strictObject({ highlights: z.boolean() }),
        }),
        answer: {
          requestId: 'b5947044c4b78efa9552a7c89b306d95',
          resolvedSearchType: 'neural',
          results: [
            {
              id: 'https://www.pets.example/cats',
              title: 'Cats',
              url: 'https://www.pets.example/cats',
              publishedDate: '2023-11-16T01:36:32.547Z',
              author: 'A. Nonymous',
              highlights: ['All about cats.', 'They purr.'],
              highlightScores: [0.46, 0.4],
            },
            { id: 'https://zoo.example/lions', title: null, url: 'https://zoo.example/lions', publishedDate: null, text: 'Big ones' },
          ],
          costDollars: { total: 0.005, breakDown: [{ search: 0.005, contents: 0 }] },
        },
      },
    },
  },
  searxng: {
    config: { name: 'searxng', baseUrl: 'https://searxng.example/searx', apiKey: undefined },
    keyOf: () => null,
    refusedKey: refuse(403, {}),
    paths: {
      '/searx/search': {
        method: 'GET',
        parameters: z.strictObject({
          q: z.string().min(1),
          format: z.literal('json'),
          categories: z.enum(['general', 'news']),
          language: z
            .string()
            .regex(/^[a-z]{2,3}(-[a-zA-Z]{2})?$/)
            .optional(),
          time_range: z.enum(['day', 'week', 'month', 'year']).optional(),
          safesearch: z.enum(['0', '1', '2']).optional(),
        }),
        answer: {
          query: 'cats',
          number_of_results: 0,
          results: [
            {
              url: 'https://www.pets.example/cats',
              title: 'Cats',
              content: 'All about cats.',
              engine: 'wikipedia',
              engines: ['wikipedia'],
              category: 'general',
              publishedDate: '2023-04-12T14:22:41',
              score: 1,
            },
            { url: 'https://zoo.example/lions', title: 'Lions', content: 'Big ones', engine: 'bing', publishedDate: null },
          ],
          answers: [],
          infoboxes: [],
          suggestions: [],
          unresponsive_engines: [],
        },
      },
    },
  },
};

export const PROVIDER_NAMES = Object.keys(STAND_INS) as SearchProviderName[];

type Respond = (request: Request, signal: AbortSignal) => Response | Promise<Response>;

async function respond({ config, keyOf, refusedKey, paths }: StandIn, request: Request): Promise<Response> {
  if (keyOf(request) !== (config.apiKey ?? null)) return refusedKey();
  const url = new URL(request.url);
  const path = paths[url.pathname];
  if (path === undefined || request.method !== path.method) return new Response('no such endpoint', { status: 404 });
  const parameters: unknown = request.method === 'GET' ? Object.fromEntries(url.searchParams) : await request.clone().json();
  const parsed = path.parameters.safeParse(parameters);
  return parsed.success ? Response.json(path.answer) : Response.json({ error: z.prettifyError(parsed.error) }, { status: 422 });
}

/** A fetch behind which the stand-ins are, or what a test puts into their place, and what they were asked. */
export function createSearchApis(replaced: Partial<Record<SearchProviderName, Respond>> = {}) {
  const requests: Request[] = [];
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(request);
    const standIn = Object.values(STAND_INS).find(({ config }) => request.url.startsWith(config.baseUrl));
    if (standIn === undefined) throw new Error(`The test expects no request to ${request.url}`);
    const respondInstead = replaced[standIn.config.name];
    return respondInstead === undefined ? respond(standIn, request) : respondInstead(request, init?.signal ?? request.signal);
  };
  return {
    fetch: answer as typeof fetch,
    requests,
    /** Names of the providers that were asked, in order. */
    asked: () => requests.map(({ url }) => new URL(url).hostname.replace('.example', '')),
  };
}
