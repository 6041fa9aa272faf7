import * as z from 'zod';
import { allowedImages } from './contract/images.ts';
import { skillsEnvironment } from './contract/limits.ts';
import type { SkillLimits } from './skills/define.ts';
import type { SearchProviderName } from './web-search/search-provider.ts';

export const WIRE_FORMATS = ['openai', 'openai-responses', 'anthropic', 'gemini'] as const;
export type WireFormat = (typeof WIRE_FORMATS)[number];

/** One upstream that models are asked from. */
export interface ProviderConfig {
  name: string;
  format: WireFormat;
  /** Without a slash at its end; for OpenAI it ends with `/v1`. */
  baseUrl: string;
  apiKey: string | undefined;
  /** Model names that go to this provider without its name in front; `*` at the end stands for any rest. */
  models: string[];
}

export interface SandboxPool {
  name: string;
  urls: string[];
  /** IATA codes of Cloudflare locations, as in `request.cf.colo`. */
  colos: string[];
  /** As in `request.cf.continent`. */
  continents: string[];
}

/** Cloudflare's rate limiting binding. https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/ */
export interface RateLimiter {
  limit(options: { key: string }): Promise<{ success: boolean }>;
}

/** A way into a network (developers.cloudflare.com/workers/runtime-apis/bindings). */
export interface NetworkBinding {
  fetch: typeof fetch;
}

/** One service that `web_search` asks. */
export interface SearchProviderConfig {
  name: SearchProviderName;
  /** Without a slash at its end. */
  baseUrl: string;
  /** Undefined for SearXNG, which has none. */
  apiKey: string | undefined;
}

export interface Config {
  managementToken: string | undefined;
  database: { url: string; authToken: string | undefined };
  providers: ProviderConfig[];
  sandbox: { pools: SandboxPool[]; secret: string | undefined };
  limits: SkillLimits;
  dnsOverHttpsUrl: string;
  /** The network that `http_request` uses, where there is one that leads to public addresses alone. */
  publicNetwork: NetworkBinding | undefined;
  /** In the order in which they are asked. */
  searchProviders: SearchProviderConfig[];
  /** Undefined where there is no such binding: nobody is limited. */
  rateLimiter: RateLimiter | undefined;
  /** The period of the rate limiter, which does not tell it. */
  rateLimitPeriodSeconds: number;
}

const baseUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

function jsonText<Inner extends z.ZodType>(inner: Inner) {
  return z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'Not valid JSON' });
        return z.NEVER;
      }
    })
    .pipe(inner);
}

const furtherProvider = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  format: z.enum(WIRE_FORMATS),
  baseUrl,
  /** Name of the variable that holds the key. */
  apiKeySecret: z.string().min(1).optional(),
  models: z.array(z.string().min(1)).default([]),
});

const sandboxPool = z.strictObject({
  name: z.string().min(1),
  urls: z.array(baseUrl).min(1),
  colos: z.array(z.string()).default([]),
  continents: z.array(z.string()).default([]),
});

const optionalText = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));

const isRateLimiter = (value: unknown): boolean => typeof (value as Partial<RateLimiter> | null)?.limit === 'function';

const isNetworkBinding = (value: unknown): boolean => typeof (value as Partial<NetworkBinding> | null)?.fetch === 'function';

const environment = skillsEnvironment.extend({
  MANAGEMENT_TOKEN: optionalText,
  LIBSQL_URL: z.url({ protocol: /^(https?|libsql)$/ }),
  LIBSQL_AUTH_TOKEN: optionalText,
  OPENAI_API_KEY: optionalText,
  OPENAI_BASE_URL: baseUrl.optional(),
  ANTHROPIC_API_KEY: optionalText,
  ANTHROPIC_BASE_URL: baseUrl.optional(),
  GEMINI_API_KEY: optionalText,
  GEMINI_BASE_URL: baseUrl.optional(),
  PROVIDERS: jsonText(z.array(furtherProvider)).default([]),
  SANDBOX_POOLS: jsonText(z.array(sandboxPool)).default([]),
  SANDBOX_SECRET: optionalText,
  DNS_OVER_HTTPS_URL: baseUrl.default('https://cloudflare-dns.com/dns-query'),
  PUBLIC_NETWORK: z.custom<NetworkBinding>(isNetworkBinding, 'Bind it as a service').optional(),
  BRAVE_API_KEY: optionalText,
  BRAVE_BASE_URL: baseUrl.default('https://api.search.brave.com/res/v1'),
  TAVILY_API_KEY: optionalText,
  TAVILY_BASE_URL: baseUrl.default('https://api.tavily.com'),
  SERPER_API_KEY: optionalText,
  SERPER_BASE_URL: baseUrl.default('https://google.serper.dev'),
  EXA_API_KEY: optionalText,
  EXA_BASE_URL: baseUrl.default('https://api.exa.ai'),
  SEARXNG_URL: optionalText.pipe(baseUrl.optional()),
  RATE_LIMITER: z.custom<RateLimiter>(isRateLimiter, 'Bind it as a rate limiter').optional(),
  RATE_LIMIT_PERIOD_SECONDS: z.enum(['10', '60'], 'Use 10 or 60').default('10').transform(Number),
});

type Environment = z.infer<typeof environment>;

function listProviders(env: Environment, bindings: Record<string, unknown>): ProviderConfig[] {
  const known = [
    ['openai', 'openai', env.OPENAI_BASE_URL, env.OPENAI_API_KEY, 'https://api.openai.com/v1'],
    ['anthropic', 'anthropic', env.ANTHROPIC_BASE_URL, env.ANTHROPIC_API_KEY, 'https://api.anthropic.com'],
    ['gemini', 'gemini', env.GEMINI_BASE_URL, env.GEMINI_API_KEY, 'https://generativelanguage.googleapis.com'],
  ] as const;
  const configured = known.flatMap(([name, format, url, apiKey, defaultUrl]): ProviderConfig[] =>
    url === undefined && apiKey === undefined ? [] : [{ name, format, baseUrl: url ?? defaultUrl, apiKey, models: [] }],
  );
  const further = env.PROVIDERS.map(({ apiKeySecret, ...provider }): ProviderConfig => {
    const apiKey = apiKeySecret === undefined ? undefined : bindings[apiKeySecret];
    if (apiKeySecret !== undefined && typeof apiKey !== 'string')
      throw new Error(`PROVIDERS: ${provider.name}: no variable ${apiKeySecret}`);
    return { ...provider, apiKey: apiKey as string | undefined };
  });
  return [...configured, ...further];
}

/** The providers whose key is set, and SearXNG when it has an address, in the order in which they are asked. */
function listSearchProviders(env: Environment): SearchProviderConfig[] {
  const keyed = [
    ['brave', env.BRAVE_BASE_URL, env.BRAVE_API_KEY],
    ['tavily', env.TAVILY_BASE_URL, env.TAVILY_API_KEY],
    ['serper', env.SERPER_BASE_URL, env.SERPER_API_KEY],
    ['exa', env.EXA_BASE_URL, env.EXA_API_KEY],
  ] as const;
  const configured = keyed.flatMap(([name, baseUrl, apiKey]) => (apiKey === undefined ? [] : [{ name, baseUrl, apiKey }]));
  return env.SEARXNG_URL === undefined ? configured : [...configured, { name: 'searxng', baseUrl: env.SEARXNG_URL, apiKey: undefined }];
}

/** Reads the worker's bindings. Throws an Error that names each bad variable, never its value. */
export function readConfig(bindings: Record<string, unknown>): Config {
  const parsed = environment.safeParse(bindings);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`Bad configuration: ${faults.join('; ')}`);
  }
  const env = parsed.data;
  return {
    managementToken: env.MANAGEMENT_TOKEN,
    database: { url: env.LIBSQL_URL, authToken: env.LIBSQL_AUTH_TOKEN },
    providers: listProviders(env, bindings),
    sandbox: { pools: env.SANDBOX_POOLS, secret: env.SANDBOX_SECRET },
    limits: {
      maxFileBytes: env.SKILLS_MAX_FILE_BYTES,
      maxHttpResponseBytes: env.SKILLS_MAX_HTTP_RESPONSE_BYTES,
      maxSandboxOutputChars: env.SKILLS_MAX_SANDBOX_OUTPUT_CHARS,
      sandboxTimeoutMs: env.SKILLS_SANDBOX_TIMEOUT_MS,
      sandboxNetworkEnabled: env.SKILLS_SANDBOX_NETWORK_ENABLED,
      allowedSandboxImages: allowedImages(env.SKILLS_ALLOWED_SANDBOX_IMAGES),
    },
    dnsOverHttpsUrl: env.DNS_OVER_HTTPS_URL,
    publicNetwork: env.PUBLIC_NETWORK,
    searchProviders: listSearchProviders(env),
    rateLimiter: env.RATE_LIMITER,
    rateLimitPeriodSeconds: env.RATE_LIMIT_PERIOD_SECONDS,
  };
}
