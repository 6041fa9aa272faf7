import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/env.ts';

const LIBSQL_URL = 'http://127.0.0.1:8888';
const read = (bindings: Record<string, unknown> = {}) => readConfig({ LIBSQL_URL, ...bindings });

describe('readConfig', () => {
  it('needs the database and has a default for everything else', () => {
    expect(read()).toEqual({
      managementToken: undefined,
      database: { url: LIBSQL_URL, authToken: undefined },
      providers: [],
      sandbox: { pools: [], secret: undefined },
      limits: {
        maxFileBytes: 1_048_576,
        maxHttpResponseBytes: 256_000,
        maxSandboxOutputChars: 100_000,
        sandboxTimeoutMs: 10_000,
        sandboxNetworkEnabled: false,
        allowedSandboxImages: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine'],
      },
      dnsOverHttpsUrl: 'https://cloudflare-dns.com/dns-query',
      publicNetwork: undefined,
      searchProviders: [],
      rateLimiter: undefined,
      rateLimitPeriodSeconds: 10,
    });
  });

  it('takes an empty secret for none, so that an empty token never opens anything', () => {
    const { managementToken, database, sandbox } = read({ MANAGEMENT_TOKEN: '', LIBSQL_AUTH_TOKEN: '', SANDBOX_SECRET: '' });
    expect([managementToken, database.authToken, sandbox.secret]).toEqual([undefined, undefined, undefined]);
  });

  it('ignores bindings that are not its own', () => {
    expect(() => read({ ASSETS: { fetch() {} }, OTHER: 'x' })).not.toThrow();
  });

  it.each([
    [{ OPENAI_API_KEY: 'k' }, { name: 'openai', format: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'k', models: [] }],
    [
      { OPENAI_BASE_URL: 'http://localhost:1234/v1///' },
      { name: 'openai', format: 'openai', baseUrl: 'http://localhost:1234/v1', apiKey: undefined, models: [] },
    ],
    [{ ANTHROPIC_API_KEY: 'k' }, { name: 'anthropic', format: 'anthropic', baseUrl: 'https://api.anthropic.com', apiKey: 'k', models: [] }],
    [
      { GEMINI_API_KEY: 'k' },
      { name: 'gemini', format: 'gemini', baseUrl: 'https://generativelanguage.googleapis.com', apiKey: 'k', models: [] },
    ],
  ])('makes a provider of %j', (bindings, provider) => {
    expect(read(bindings).providers).toEqual([provider]);
  });

  it('adds the providers of PROVIDERS with the keys that their variables hold', () => {
    const { providers } = read({
      ANTHROPIC_API_KEY: 'a',
      PROVIDERS: JSON.stringify([
        { name: 'local', format: 'openai', baseUrl: 'http://127.0.0.1:11434/v1/', models: ['llama*'] },
        { name: 'other', format: 'openai', baseUrl: 'https://other.example/v1', apiKeySecret: 'OTHER_KEY' },
      ]),
      OTHER_KEY: 'secret',
    });
    expect(providers.map(({ name, baseUrl, apiKey, models }) => [name, baseUrl, apiKey, models])).toEqual([
      ['anthropic', 'https://api.anthropic.com', 'a', []],
      ['local', 'http://127.0.0.1:11434/v1', undefined, ['llama*']],
      ['other', 'https://other.example/v1', 'secret', []],
    ]);
  });

  it('lists search providers whose key is set, in a fixed order, SearXNG by its address', () => {
    expect(
      read({ SEARXNG_URL: 'http://searx.lan:8080/', EXA_API_KEY: 'e', SERPER_API_KEY: 's', TAVILY_API_KEY: 't', BRAVE_API_KEY: 'b' }),
    ).toMatchObject({
      searchProviders: [
        { name: 'brave', baseUrl: 'https://api.search.brave.com/res/v1', apiKey: 'b' },
        { name: 'tavily', baseUrl: 'https://api.tavily.com', apiKey: 't' },
        { name: 'serper', baseUrl: 'https://google.serper.dev', apiKey: 's' },
        { name: 'exa', baseUrl: 'https://api.exa.ai', apiKey: 'e' },
        { name: 'searxng', baseUrl: 'http://searx.lan:8080', apiKey: undefined },
      ],
    });
  });

  it('asks a mirror of a search provider only when its key is set', () => {
    expect(read({ BRAVE_BASE_URL: 'https://mirror.example/v1/', SEARXNG_URL: '', TAVILY_API_KEY: '' }).searchProviders).toEqual([]);
    expect(read({ BRAVE_BASE_URL: 'https://mirror.example/v1/', BRAVE_API_KEY: 'b' }).searchProviders).toEqual([
      { name: 'brave', baseUrl: 'https://mirror.example/v1', apiKey: 'b' },
    ]);
  });

  it('reads sandbox pools', () => {
    const pools = [{ name: 'eu', urls: ['https://sandbox.example/'], continents: ['EU'] }];
    expect(read({ SANDBOX_POOLS: JSON.stringify(pools) }).sandbox.pools).toEqual([
      { name: 'eu', urls: ['https://sandbox.example'], colos: [], continents: ['EU'] },
    ]);
  });

  it('reads the limits', () => {
    const { limits } = read({
      SKILLS_MAX_FILE_BYTES: '10',
      SKILLS_MAX_HTTP_RESPONSE_BYTES: '20',
      SKILLS_MAX_SANDBOX_OUTPUT_CHARS: '30',
      SKILLS_SANDBOX_TIMEOUT_MS: '60000',
      SKILLS_SANDBOX_NETWORK_ENABLED: '1',
      SKILLS_ALLOWED_SANDBOX_IMAGES: ' ruby:3 , ,node:22-alpine',
    });
    expect(limits).toEqual({
      maxFileBytes: 10,
      maxHttpResponseBytes: 20,
      maxSandboxOutputChars: 30,
      sandboxTimeoutMs: 60_000,
      sandboxNetworkEnabled: true,
      allowedSandboxImages: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine', 'ruby:3'],
    });
  });

  it.each([
    ['true', true],
    ['0', false],
    ['false', false],
    ['', false],
  ])('reads SKILLS_SANDBOX_NETWORK_ENABLED=%s as %s', (text, enabled) => {
    expect(read({ SKILLS_SANDBOX_NETWORK_ENABLED: text }).limits.sandboxNetworkEnabled).toBe(enabled);
  });

  it.each([
    ['LIBSQL_URL', undefined],
    ['LIBSQL_URL', 'file:local.db'],
    ['LIBSQL_URL', 'hunter2'],
    ['OPENAI_BASE_URL', 'ftp://hunter2'],
    ['ANTHROPIC_BASE_URL', 'hunter2'],
    ['DNS_OVER_HTTPS_URL', 'hunter2'],
    ['SEARXNG_URL', 'hunter2'],
    ['SEARXNG_URL', 'ftp://hunter2'],
    ['EXA_BASE_URL', 'hunter2'],
    ['PUBLIC_NETWORK', 'hunter2'],
    ['PROVIDERS', 'hunter2'],
    ['PROVIDERS', '{"name":"hunter2"}'],
    ['PROVIDERS', '[{"name":"x","format":"hunter2","baseUrl":"https://x.example"}]'],
    ['PROVIDERS', '[{"name":"a b","format":"openai","baseUrl":"https://x.example"}]'],
    ['PROVIDERS', '[{"name":"x","format":"openai","baseUrl":"https://x.example","apiKey":"hunter2"}]'],
    ['PROVIDERS', '[{"name":"x","format":"openai","baseUrl":"https://x.example","apiKeySecret":"MISSING"}]'],
    ['SANDBOX_POOLS', '[{"name":"eu","urls":[]}]'],
    ['SANDBOX_POOLS', '[{"name":"eu","urls":["hunter2"]}]'],
    ['SKILLS_MAX_FILE_BYTES', '-1'],
    ['SKILLS_MAX_FILE_BYTES', '1e3'],
    ['SKILLS_MAX_FILE_BYTES', '99999999999'],
    ['SKILLS_SANDBOX_TIMEOUT_MS', '60001'],
    ['SKILLS_SANDBOX_NETWORK_ENABLED', 'yes, hunter2'],
    ['MANAGEMENT_TOKEN', 42],
    ['RATE_LIMITER', 'hunter2'],
    ['RATE_LIMIT_PERIOD_SECONDS', '30'],
  ])('refuses %s=%s by the name of the variable, never its value', (name, value) => {
    let message = '';
    try {
      read({ [name]: value });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(name);
    expect(message).not.toContain('hunter2');
  });

  it('names every variable that is bad', () => {
    expect(() => read({ LIBSQL_URL: 'x', SKILLS_MAX_FILE_BYTES: 'y' })).toThrow(/SKILLS_MAX_FILE_BYTES: .*; LIBSQL_URL: /);
  });
});
