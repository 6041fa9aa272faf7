import { type JsonObject, objectsOf } from '../../src/json.ts';
import { CommandError, EXIT_CODE } from '../exit-code.ts';
import type { Gateway, GatewayRequest } from '../gateway.ts';

/** What was answered, or why nothing was. */
export type Answer<Value> = { value: Value } | { error: CommandError };

/** What a gateway tells about itself. */
export interface Observations {
  url: string;
  hasToken: boolean;
  health: Answer<JsonObject>;
  settings: Answer<JsonObject>;
  /** As `GET /api/sandbox/pools` answers them. */
  pools: Answer<JsonObject>;
  /** How many models each kind of client is offered, by the name of the kind. */
  models: Answer<Record<string, number>>;
}

const TIMEOUT_MS = 15_000;

async function answerOf<Value>(asked: Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await asked };
  } catch (error) {
    if (error instanceof CommandError) return { error };
    throw error;
  }
}

const MODEL_LISTS: [string, string, Record<string, string>][] = [
  ['OpenAI', '/v1/models', {}],
  ['Anthropic', '/v1/models', { 'anthropic-version': '2023-06-01' }],
  ['Gemini', '/v1beta/models', {}],
];

export async function observe(gateway: Gateway): Promise<Observations> {
  const call = (path: string, request: GatewayRequest = {}) => gateway.call(path, { timeoutMs: TIMEOUT_MS, ...request });

  async function readHealth(): Promise<JsonObject> {
    const health = await call('/healthz', { alsoTakes: [503] });
    if (typeof health.database === 'string' && typeof health.sandbox === 'string') return health;
    throw new CommandError(EXIT_CODE.unreachable, `What answers at ${gateway.url} is no OmniRoute Edge gateway`, { code: 'not_a_gateway' });
  }

  async function countModels(): Promise<Record<string, number>> {
    const counts = MODEL_LISTS.map(async ([client, path, headers]) => {
      const { data, models } = await call(path, { headers });
      return [client, objectsOf(data ?? models).length] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  }

  const health = await answerOf(readHealth());
  const { url, token } = gateway;
  const base = { url, hasToken: token !== undefined, health };
  // Where no gateway answers the token has no business.
  if ('error' in health) return { ...base, settings: health, pools: health, models: health };
  const [settings, pools, models] = await Promise.all([
    answerOf(call('/api/settings')),
    answerOf(call('/api/sandbox/pools')),
    answerOf(countModels()),
  ]);
  return { ...base, settings, pools, models };
}
