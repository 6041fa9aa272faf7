import type { Environment } from './settings.ts';

/** The variables that say which models to ask. */
export const PROVIDER_VARIABLES = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'GEMINI_API_KEY',
  'GEMINI_BASE_URL',
  'PROVIDERS',
] as const;

/** What says which services `web_search` asks. */
export const SEARCH_VARIABLES = [
  ...['BRAVE_API_KEY', 'BRAVE_BASE_URL', 'TAVILY_API_KEY', 'TAVILY_BASE_URL', 'SERPER_API_KEY', 'SERPER_BASE_URL'],
  ...['EXA_API_KEY', 'EXA_BASE_URL', 'SEARXNG_URL'],
];

const WORKER_VARIABLES: readonly string[] = [
  ...PROVIDER_VARIABLES,
  ...SEARCH_VARIABLES,
  'LIBSQL_AUTH_TOKEN',
  'SANDBOX_POOLS',
  'DNS_OVER_HTTPS_URL',
  'RATE_LIMIT_PERIOD_SECONDS',
];

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

/** Whether somebody has said which models to ask, so that the scripted model stays away. */
export const hasProvider = (env: Environment): boolean => PROVIDER_VARIABLES.some((name) => isSet(env[name]));

/** Names of the variables that hold the keys of further providers. What is wrong with PROVIDERS the worker says. */
function keyVariables(providers: string | undefined): string[] {
  try {
    const list: unknown = JSON.parse(providers ?? '[]');
    return Array.isArray(list) ? list.map((provider) => provider?.apiKeySecret).filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/** The part of the environment that is the worker's business, and nothing else of it. */
export function workerVariables(env: Environment): Record<string, string> {
  const names = new Set([...WORKER_VARIABLES, ...keyVariables(env.PROVIDERS)]);
  const wanted = Object.entries(env).filter(([name, value]) => isSet(value) && (names.has(name) || name.startsWith('SKILLS_')));
  return Object.fromEntries(wanted) as Record<string, string>;
}
