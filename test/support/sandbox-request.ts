import { randomUUID } from 'node:crypto';
import { signRequest } from '../../src/sandbox/sign-request.ts';

/** A request to a sandbox-host with its signature, as `app.request` and `fetch` take it. */
export async function signedRequest(
  secret: string,
  method: string,
  path: string,
  { body, accept, signal, now = Date.now() }: { body?: unknown; accept?: string; signal?: AbortSignal; now?: number } = {},
): Promise<RequestInit> {
  const bytes = body === undefined ? new Uint8Array() : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  const authorization = await signRequest({ method, path, body: bytes }, { secret, id: randomUUID(), now });
  return {
    method,
    headers: { authorization, ...(accept !== undefined && { accept }) },
    ...(bytes.length > 0 && { body: bytes }),
    ...(signal && { signal }),
  };
}
