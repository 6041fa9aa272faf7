import { AppError } from '../errors.ts';

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/**
 * Refuses what a page of another site has a browser send: a page that rebinds its name to a gateway on the reader's machine names that name as
 * host and as origin, so an equal origin counts only over TLS, where a certificate vouches for the name. Programs other than browsers send no
 * origin. (MCP, transports, security warning.) Throws `forbidden`.
 */
export function requireKnownOrigin(request: Request): void {
  const text = request.headers.get('origin');
  if (text === null) return;
  const url = new URL(request.url);
  const origin = URL.parse(text);
  const isOwn = origin !== null && url.protocol === 'https:' && origin.origin === url.origin;
  const isLocal = origin !== null && isLoopback(origin.hostname) && isLoopback(url.hostname);
  if (!isOwn && !isLocal) throw new AppError('forbidden', 'Requests from pages of other origins are refused');
}
