import { AppError } from '../errors.ts';
import { readBytes } from '../net/read-bytes.ts';
import { MAX_MARKETPLACE_BYTES } from './marketplace.ts';

const MAX_REDIRECTS = 3;

export interface MarketplaceRequest {
  /** Who is asked, as messages name it. */
  title: string;
  url: string;
  apiKey?: string;
  timeoutMs: number;
}

/** What was read; `truncated` says that there is more than may be read. */
export interface MarketplaceAnswer {
  bytes: Uint8Array;
  truncated: boolean;
}

/** Follows redirects to the same origin only: the URL was checked, and the key is for nobody else. */
async function fetchWithin(fetch: typeof globalThis.fetch, { title, url, apiKey }: MarketplaceRequest, signal: AbortSignal) {
  const headers = { accept: 'application/json, text/*', ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) };
  const { origin } = new URL(url);
  let target = url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(target, { headers, redirect: 'manual', signal });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, target);
    if (next?.origin !== origin || redirects === MAX_REDIRECTS) {
      throw new AppError('marketplace_failed', `${title} answered ${response.status} with a redirect that is not followed`);
    }
    target = next.href;
  }
}

/** The seconds of `Retry-After`, when it says some. */
const retryAfter = (response: Response): { retryAfterSeconds: number } | undefined => {
  const text = response.headers.get('retry-after');
  return text !== null && /^\d{1,6}$/.test(text) ? { retryAfterSeconds: Number(text) } : undefined;
};

function refusalOf(response: Response, { title, apiKey }: MarketplaceRequest): AppError {
  const { status } = response;
  if (status === 401 || status === 403) {
    const advice = apiKey === undefined ? '' : '. Check its API key in Settings > AI.';
    return new AppError('marketplace_unauthorized', `${title} refused access (${status})${advice}`);
  }
  if (status === 429) return new AppError('marketplace_rate_limited', `${title} allows no more requests for now`, retryAfter(response));
  return new AppError('marketplace_failed', `${title} answered ${status}`);
}

/**
 * Sends one GET request and reads at most 256 KiB of the answer; undefined when that is 404. Rejects with `marketplace_unauthorized` (401, 403),
 * `marketplace_rate_limited` (429), `marketplace_failed` (any other status, or a redirect elsewhere), `marketplace_timeout` and
 * `marketplace_unreachable`. Requests that must be answered together within `timeoutMs` share the `signal` of that time.
 */
export async function askMarketplace(
  fetch: typeof globalThis.fetch,
  request: MarketplaceRequest,
  signal: AbortSignal = AbortSignal.timeout(request.timeoutMs),
): Promise<MarketplaceAnswer | undefined> {
  try {
    const response = await fetchWithin(fetch, request, signal);
    if (response.ok) return await readBytes(response, { maxBytes: MAX_MARKETPLACE_BYTES, signal });
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    throw refusalOf(response, request);
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal.aborted) throw new AppError('marketplace_timeout', `${request.title} did not answer within ${request.timeoutMs} ms`);
    throw new AppError('marketplace_unreachable', `${request.title} cannot be reached`);
  }
}
