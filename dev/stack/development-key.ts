import { z } from 'zod';
import type { Credentials } from './credentials.ts';

export interface DevelopmentKey {
  id: string;
  key: string;
}

const listed = z.object({ data: z.array(z.object({ id: z.string() })) });
const created = z.object({ id: z.string(), key: z.string() });

/** The key of an earlier start when this database still knows it, else a new one with the default scopes. */
export async function ensureDevelopmentKey(url: string, managementToken: string, known: Credentials['apiKey']): Promise<DevelopmentKey> {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${managementToken}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
    return response.json();
  };
  if (known !== undefined) {
    const { data } = listed.parse(await call('GET', '/api/keys?limit=200'));
    if (data.some((key) => key.id === known.id)) return known;
  }
  return created.parse(await call('POST', '/api/keys', { name: 'development' }));
}
