import type { Context, MiddlewareHandler } from 'hono';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';
import { annotate } from './describe-route.ts';
import { type Demand, hasScope, isManagement, type Principal, SCOPES, type Scope } from './principal.ts';
import { countAttempt, countRequest } from './rate-limit.ts';

const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

/** Compares digests, so that neither length nor content of the secret shows in the time it takes. */
async function equalSecrets(left: string, right: string): Promise<boolean> {
  const [leftDigest, rightDigest] = await Promise.all([sha256(left), sha256(right)]);
  return leftDigest.reduce((difference, byte, position) => difference | (byte ^ (rightDigest[position] ?? 0)), 0) === 0;
}

/** The key or token of a request: `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` or `?key=`. */
export function readCredential(c: Context<AppEnv>): string | undefined {
  const authorization = c.req.header('authorization');
  const bearer = authorization === undefined ? undefined : /^Bearer\s+(\S+)$/i.exec(authorization.trim())?.[1];
  return bearer ?? c.req.header('x-api-key') ?? c.req.header('x-goog-api-key') ?? c.req.query('key');
}

async function identify(c: Context<AppEnv>): Promise<Principal | undefined> {
  const credential = readCredential(c);
  if (credential === undefined || credential === '') return undefined;
  const { config, apiKeys } = c.get('services');
  // Before the database is asked: a flood of made-up keys ends here.
  if (config.rateLimiter !== undefined && !apiKeys.remembers(credential)) await countAttempt(c);
  // Keys first: they are in a cache, and what has not their shape is in no database, while the token costs two digests.
  const key = await apiKeys.find(credential, (work) => c.executionCtx.waitUntil(work));
  if (key)
    return {
      kind: 'key',
      apiKeyId: key.id,
      scopes: SCOPES.filter((scope) => key.scopes.includes(scope)),
      remembersOutcomes: key.routingMemory,
    };
  const { managementToken } = config;
  return managementToken !== undefined && (await equalSecrets(credential, managementToken)) ? { kind: 'management' } : undefined;
}

async function requirePrincipal(c: Context<AppEnv>): Promise<Principal> {
  const principal = await c.get('stopwatch').time('auth', () => identify(c));
  if (principal === undefined) throw new AppError('unauthorized', 'A valid API key is required: send it as Authorization: Bearer <key>');
  return principal;
}

const refusalOf = (demand: Demand): string =>
  demand === 'management' ? 'This needs the management token or an API key with the scope manage' : `The API key lacks the scope ${demand}`;

/** Throws `forbidden` unless the principal meets the demand. */
export function requireDemand(principal: Principal, demand: Demand): void {
  const isMet = demand === 'management' ? isManagement(principal) : hasScope(principal, demand);
  if (!isMet) throw new AppError('forbidden', refusalOf(demand));
}

/**
 * Sets the principal, which meets the demand if there is one, and begins to count its request: what the management sends was counted when
 * it was identified. The caller waits for `admission`, when there is one. Throws `unauthorized` and `forbidden`.
 */
export async function authenticate(c: Context<AppEnv>, demand?: Demand): Promise<void> {
  const principal = await requirePrincipal(c);
  if (demand !== undefined) requireDemand(principal, demand);
  c.set('principal', principal);
  if (principal.kind === 'management' || c.get('services').config.rateLimiter === undefined) return;
  const admission = countRequest(c, `key:${principal.apiKeyId}`);
  // Nobody may be waiting for it when it is refused.
  admission.catch(() => {});
  c.set('admission', admission);
}

/** Lets pass an API key that has the scope, and the management. */
export const requireScope = (scope: Scope): MiddlewareHandler<AppEnv> =>
  annotate(
    async (c, next) => {
      await authenticate(c, scope);
      await c.get('admission');
      await next();
    },
    { demand: scope },
  );

/** Lets pass the management only: its token, or an API key with the scope `manage`. */
export const requireManagement: MiddlewareHandler<AppEnv> = annotate(
  async (c, next) => {
    if (c.var.services.config.managementToken === undefined) {
      throw new AppError(
        'management_not_configured',
        'No management token is configured: set MANAGEMENT_TOKEN and start the gateway again',
      );
    }
    await authenticate(c, 'management');
    await c.get('admission');
    await next();
  },
  { demand: 'management' },
);
