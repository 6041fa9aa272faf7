import { describe, expect, it } from 'vitest';
import { createWebSearch } from '../../src/web-search/create-web-search.ts';
import type { SearchProviderName, SearchQuery } from '../../src/web-search/search-provider.ts';
import { collectLog } from '../support/collect-log.ts';
import { hang } from '../support/fake-internet.ts';
import { PLAIN_QUERY } from '../support/search-query.ts';
import { createSearchApis, PROVIDER_NAMES, STAND_INS } from '../support/search-stand-ins.ts';

const MINUTE = 60_000;
const never = new AbortController().signal;

/** A search over these providers in their fixed order. */
function setUp(names: readonly SearchProviderName[], replaced: Parameters<typeof createSearchApis>[0] = {}) {
  const apis = createSearchApis(replaced);
  const clock = { now: Date.parse('2026-11-30T12:00:00Z') };
  const { log, entries } = collectLog();
  const providers = names.map((name) => STAND_INS[name].config);
  const searchFor = createWebSearch({ providers, fetch: apis.fetch, now: () => clock.now, log, timeoutMs: 50 });
  const search = (query: Partial<SearchQuery> = {}, { apiKeyId = 'key-1', signal = never } = {}) =>
    searchFor(apiKeyId)({ ...PLAIN_QUERY, ...query }, { signal });
  return { search, clock, entries, asked: apis.asked };
}

const status =
  (code: number, body = '{"error":"tvly-secret-key BSA-secret-key"}') =>
  () =>
    new Response(body, { status: code });
/** A failure that the model reads. */
const failure = (message: string) => ({ name: 'SkillError', message });
const refused = () => Promise.reject(new TypeError('connect ECONNREFUSED 10.0.0.1 with BSA-secret-key'));

const FAILURES: [what: string, respond: (request: Request, signal: AbortSignal) => Response | Promise<Response>, told: string][] = [
  ['a bad request', status(400), 'did not accept the search (400)'],
  ['a refused key', status(401), 'refuses its API key (401)'],
  ['no credit', status(402), 'is over its limit (402)'],
  ['a forbidden key', status(403), 'refuses its API key (403)'],
  ['a parameter that it does not take', status(422), 'did not accept the search (422)'],
  ['a rate limit', status(429), 'is over its limit (429)'],
  ["a plan's limit", status(432), 'is over its limit (432)'],
  ['a fault of its own', status(500), 'failed (500)'],
  ['a gateway without a server', status(503, '<html>'), 'failed (503)'],
  ['a redirect', () => Response.redirect('https://evil.example/', 302), 'did not accept the search (302)'],
  ['no connection', refused, 'cannot be reached'],
  ['silence', (_, signal) => hang(signal), 'did not answer within 50 ms'],
  [
    'a body that stops',
    () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{')) })),
    'did not answer within 50 ms',
  ],
  ['no JSON', () => new Response('<html>BSA-secret-key</html>'), 'sent an answer that cannot be read'],
  ['an empty body', () => new Response(null), 'sent an answer that cannot be read'],
  ['JSON that is no object', () => Response.json([]), 'sent an answer that cannot be read'],
  ['an object of another kind', () => Response.json({ error: 'sorry' }), 'sent an answer that cannot be read'],
  ['results that are no list', () => Response.json({ results: 'none', organic: 'none', web: [] }), 'sent an answer that cannot be read'],
  ['a flood', () => Response.json({ results: [], filler: 'x'.repeat(3_000_000) }), 'sent an answer that cannot be read'],
];

describe('createWebSearch', () => {
  describe.each(PROVIDER_NAMES.filter((name) => name !== 'searxng'))('with %s alone', (name) => {
    it.each(FAILURES)('tells of %s, and no word of the provider', async (_, respond, told) => {
      const { search, entries } = setUp([name], { [name]: respond });
      await expect(search()).rejects.toMatchObject(failure(`The search failed: ${name} ${told}`));
      expect(entries).toEqual([
        expect.objectContaining({ level: 'warn', event: 'skills.web_search.provider_failed', provider: name, reason: told }),
      ]);
      expect(JSON.stringify(entries)).not.toContain('secret');
    });

    it('is refused with a wrong key', async () => {
      const apis = createSearchApis();
      const providers = [{ ...STAND_INS[name].config, apiKey: 'wrong' }];
      const search = createWebSearch({ providers, fetch: apis.fetch, now: () => 0, log: { warn: () => {} } });
      await expect(search('key-1')(PLAIN_QUERY, { signal: never })).rejects.toThrow(/^The search failed: \w+ .* \(4\d\d\)$/);
    });

    it('does not show a key that no header can hold', async () => {
      const apis = createSearchApis();
      const providers = [{ ...STAND_INS[name].config, apiKey: 'secret\nkey' }];
      const search = createWebSearch({ providers, fetch: apis.fetch, now: () => 0, log: { warn: () => {} } });
      await expect(search('key-1')(PLAIN_QUERY, { signal: never })).rejects.toMatchObject(
        failure(`The search failed: ${name} cannot be reached`),
      );
    });
  });

  it('tells why an instance of SearXNG refuses', async () => {
    const { search } = setUp(['searxng'], { searxng: status(403) });
    await expect(search()).rejects.toThrow(
      'The search failed: searxng does not allow JSON answers: its setting search.formats lacks json (403)',
    );
  });

  it.each(FAILURES)('asks the next provider after %s', async (_, respond) => {
    const { search, asked, entries } = setUp(PROVIDER_NAMES, { brave: respond });
    expect(await search()).toMatchObject({ provider: 'tavily', cached: false });
    expect(asked()).toEqual(['brave', 'tavily']);
    expect(entries).toHaveLength(1);
  });

  it('asks one after the other, in order, until one answers', async () => {
    const { search, asked } = setUp(PROVIDER_NAMES, { brave: status(429), tavily: status(500), serper: refused, exa: status(401) });
    expect(await search()).toMatchObject({ provider: 'searxng' });
    expect(asked()).toEqual(['brave', 'tavily', 'serper', 'exa', 'searxng']);
  });

  it('asks nobody else when the first answers, even without results', async () => {
    const { search, asked } = setUp(PROVIDER_NAMES, { brave: () => Response.json({ type: 'search', query: { original: 'cats' } }) });
    expect(await search()).toMatchObject({ provider: 'brave', results: [] });
    expect(asked()).toEqual(['brave']);
  });

  it('tells what every one of them said when none answers', async () => {
    const { search } = setUp(['brave', 'serper', 'exa'], { brave: status(401), serper: status(429), exa: refused });
    await expect(search()).rejects.toMatchObject(
      failure('The search failed: brave refuses its API key (401); serper is over its limit (429); exa cannot be reached'),
    );
  });

  it.each([
    ['a rate limit', status(429), true],
    ['a fault of a provider', status(502), true],
    ['no connection', refused, true],
    ['a refused key', status(401), false],
    ['a timeout, which has taken long enough', (_: Request, signal: AbortSignal) => hang(signal), false],
  ])('says whether it is worth to try again after %s', async (_, respond, transient) => {
    await expect(setUp(['brave'], { brave: respond }).search()).rejects.toMatchObject({ transient });
  });

  it('stops when its caller does, and asks nobody else', async () => {
    const controller = new AbortController();
    const leave = (_: Request, signal: AbortSignal) => {
      controller.abort(new Error('left'));
      return hang(signal);
    };
    const { search, asked } = setUp(PROVIDER_NAMES, { brave: leave });
    await expect(search({}, { signal: controller.signal })).rejects.toThrow('left');
    expect(asked()).toEqual(['brave']);
  });

  describe('the cache', () => {
    it('answers for five minutes, for nothing', async () => {
      const { search, clock, asked } = setUp(['tavily']);
      const first = await search();
      expect(first).toMatchObject({ cached: false, usage: { queries_used: 1, credits_used: 1 } });
      clock.now += 5 * MINUTE - 1;
      expect(await search()).toEqual({ ...first, cached: true, usage: { queries_used: 0, credits_used: 0, search_cost_usd: 0 } });
      expect(asked()).toHaveLength(1);
      clock.now += 1;
      expect(await search()).toMatchObject({ cached: false });
      expect(asked()).toHaveLength(2);
    });

    it.each<[string, Partial<SearchQuery>]>([
      ['query', { query: 'dogs' }],
      ['number of results', { maxResults: 6 }],
      ['kind of search', { searchType: 'news' }],
      ['country', { country: 'DE' }],
      ['language', { language: 'de' }],
      ['time range', { timeRange: 'day' }],
      ['domains to include', { includeDomains: ['pets.example'] }],
      ['domains to exclude', { excludeDomains: ['pets.example'] }],
      ['safe search', { safeSearch: 'strict' }],
    ])('does not answer for another %s', async (_, other) => {
      const { search, asked } = setUp(['brave']);
      await search();
      expect(await search(other)).toMatchObject({ cached: false });
      expect(await search(other)).toMatchObject({ cached: true });
      expect(asked()).toHaveLength(2);
    });

    it('tells no key what another one has asked', async () => {
      const { search } = setUp(['brave']);
      await search({}, { apiKeyId: 'key-1' });
      expect(await search({}, { apiKeyId: 'key-2' })).toMatchObject({ cached: false });
    });

    it('keeps no failure', async () => {
      const answers = [status(500)(), Response.json({ type: 'search', web: { results: [] } })];
      const { search } = setUp(['brave'], { brave: () => answers.shift() as Response });
      await expect(search()).rejects.toThrow('failed (500)');
      expect(await search()).toMatchObject({ provider: 'brave', cached: false });
    });

    it('keeps 200 answers, and of more the ones that were used last', async () => {
      const { search, asked } = setUp(['searxng']);
      await search({ query: 'first' });
      await search({ query: 'second' });
      for (let index = 0; index < 198; index += 1) await search({ query: `query ${index}` });
      expect(await search({ query: 'first' })).toMatchObject({ cached: true });
      await search({ query: 'one more' });
      expect(asked()).toHaveLength(201);
      expect(await search({ query: 'first' })).toMatchObject({ cached: true });
      expect(await search({ query: 'second' })).toMatchObject({ cached: false });
    });
  });
});
