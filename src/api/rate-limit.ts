import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';

/**
 * Counts one request under the name. Throws `rate_limited` when the name has used up what the rate limiting binding allows in its period;
 * without the binding there is no limit, and one that fails stops nobody.
 */
export async function countRequest(c: Context<AppEnv>, name: string): Promise<void> {
  const { config, log } = c.get('services');
  if (config.rateLimiter === undefined) return;
  const { success } = await config.rateLimiter.limit({ key: name }).catch((error: unknown) => {
    log.error('rate_limit.failed', { requestId: c.get('requestId'), error });
    return { success: true };
  });
  if (success) return;
  throw new AppError('rate_limited', `Too many requests: try again in ${config.rateLimitPeriodSeconds} seconds`);
}

/** A household's part of an address: the whole of IPv4, the first 64 bits of IPv6, whose rest its holder makes up. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':');
}

/** Counts an attempt to identify under the caller's address, which Cloudflare tells; elsewhere nobody does. */
export async function countAttempt(c: Context<AppEnv>): Promise<void> {
  const address = c.req.header('cf-connecting-ip');
  if (address !== undefined) await countRequest(c, `address:${networkOf(address)}`);
}
