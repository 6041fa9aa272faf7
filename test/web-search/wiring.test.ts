import { afterEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createSearchApis, STAND_INS } from '../support/search-stand-ins.ts';

const SECRETS = /secret-key/;

let gateway: TestApp;
afterEach(() => gateway.close());

/** Starts the gateway on the stand-ins, as its variables tell it. */
async function start(replaced: Parameters<typeof createSearchApis>[0] = {}) {
  const apis = createSearchApis(replaced);
  gateway = await createTestApp({
    upstream: (request) => apis.fetch(request),
    variables: {
      BRAVE_API_KEY: STAND_INS.brave.config.apiKey,
      BRAVE_BASE_URL: STAND_INS.brave.config.baseUrl,
      TAVILY_API_KEY: STAND_INS.tavily.config.apiKey,
      TAVILY_BASE_URL: STAND_INS.tavily.config.baseUrl,
    },
  });
  const search = async (as = gateway.key.key) => {
    const json = { skillName: 'web_search', input: { query: 'cats' } };
    return (await gateway.call('/api/skills/executions', { as, json })).body.execution;
  };
  return { search, asked: apis.asked };
}

describe('web_search in the gateway', () => {
  it('asks the provider whose key is set, and answers the same key from the cache', async () => {
    const { search, asked } = await start();
    expect(await search()).toMatchObject({ status: 'success', output: { success: true, provider: 'brave', query: 'cats', cached: false } });
    expect(await search()).toMatchObject({ status: 'success', output: { provider: 'brave', cached: true, usage: { queries_used: 0 } } });
    expect(await search((await gateway.createKey()).key)).toMatchObject({ output: { cached: false } });
    expect(asked()).toEqual(['brave', 'brave']);
  });

  it('goes on to the next provider, and shows and logs no key', async () => {
    const { search, asked } = await start({ brave: () => Response.json({ token: 'BSA-secret-key' }, { status: 429 }) });
    expect(await search()).toMatchObject({ status: 'success', output: { provider: 'tavily' } });
    expect(asked()).toEqual(['brave', 'tavily']);
    const { entries } = gateway;
    expect(entries).toContainEqual(expect.objectContaining({ event: 'skills.web_search.provider_failed', provider: 'brave' }));
    expect(JSON.stringify(entries)).not.toMatch(SECRETS);
  });

  it('tells what failed without a key', async () => {
    const refuse = () => Response.json({ token: 'tvly-secret-key' }, { status: 401 });
    const { search } = await start({ brave: refuse, tavily: refuse });
    const execution = await search();
    expect(execution).toMatchObject({
      status: 'error',
      attempts: 1,
      errorMessage: 'The search failed: brave refuses its API key (401); tavily refuses its API key (401)',
    });
    expect(JSON.stringify([execution, gateway.entries])).not.toMatch(SECRETS);
  });
});
