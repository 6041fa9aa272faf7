import { usageError } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8787';

/** Where the gateway is, and what is shown to it. */
export interface Connection {
  /** Without a slash at its end. */
  url: string;
  token: string | undefined;
}

function readUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usageError(`Not a URL: ${text}. Use one such as ${DEFAULT_URL}`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw usageError(`Use an http or https URL, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw usageError('The URL must not hold a user name or password; give the token by OMNIROUTE_TOKEN');
  if (url.search !== '' || url.hash !== '') throw usageError('Use a URL without query and fragment');
  return url.href.replace(/\/+$/, '');
}

/** Flags win over the environment. Throws a usage error, which never repeats the token. */
export function readConnection(flags: { url?: string; token?: string }, env: Terminal['env']): Connection {
  const token = (flags.token ?? env.OMNIROUTE_TOKEN ?? '').trim();
  if (!/^[\x21-\x7e]*$/.test(token)) throw usageError('The token has characters that no token has');
  return { url: readUrl(flags.url ?? (env.OMNIROUTE_URL || DEFAULT_URL)), token: token === '' ? undefined : token };
}
