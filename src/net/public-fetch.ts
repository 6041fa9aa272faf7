import { type PublicFetch, SkillError } from '../skills/define.ts';
import { isPublicAddress } from './public-address.ts';
import { checkPublicUrl, type PublicHost } from './public-url.ts';
import { type Resolver, resolveHost } from './resolve-host.ts';

const blocked = () => new SkillError('Blocked private or local URL');

async function resolvesToPublic(host: PublicHost, resolver: Resolver, signal: AbortSignal): Promise<boolean> {
  if (host.kind === 'address') return true;
  try {
    return (await resolveHost(host.name, resolver, signal)).every(isPublicAddress);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

export interface PublicFetchOptions extends Resolver {
  /** What sites are asked by; `fetch` when it is left out. */
  siteFetch?: typeof fetch;
}

/**
 * A fetch that reaches public addresses only. Rejects with a SkillError: "Blocked private or local URL" for everything else and for what cannot be
 * resolved, "Redirect blocked (STATUS)" for an answer that points elsewhere, and a transient one when the host cannot be reached. When the signal fires it rejects with its reason.
 *
 * The runtime resolves a name again when it connects, and offers no way to connect to an address that has been checked: a name may have moved
 * in between. What holds then is the network: Cloudflare's has no way into a private one, workerd's own `network` services allow public
 * addresses alone and check them when they connect, and `npm start` hands in such a service as `siteFetch`.
 */
export function createPublicFetch({ siteFetch, ...resolver }: PublicFetchOptions): PublicFetch {
  const fetch = siteFetch ?? resolver.fetch;
  return async (requested, init) => {
    const checked = checkPublicUrl(requested);
    if (checked === undefined || !(await resolvesToPublic(checked.host, resolver, init.signal))) throw blocked();
    const response = await fetch(checked.url, { ...init, redirect: 'manual' }).catch(() => {
      init.signal.throwIfAborted();
      throw new SkillError(`No answer from ${checked.url.host}`, { transient: true });
    });
    if (response.status >= 300 && response.status < 400 && response.headers.has('location')) {
      await response.body?.cancel();
      throw new SkillError(`Redirect blocked (${response.status})`);
    }
    return response;
  };
}
