import { SignJWT } from 'jose';
import { bodyDigest, TOKEN_AUDIENCE, TOKEN_LIFETIME_SECONDS } from '../contract/request-token.ts';

export interface UnsignedRequest {
  method: string;
  /** Path and query. */
  path: string;
  body: Uint8Array<ArrayBuffer>;
}

/** The value of the `authorization` header that lets one request into a sandbox-host, once, within a minute. */
export async function signRequest(request: UnsignedRequest, options: { secret: string; id: string; now: number }): Promise<string> {
  const issuedAt = Math.floor(options.now / 1_000);
  const claims = { htm: request.method, htu: request.path, bod: await bodyDigest(request.body) };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(TOKEN_AUDIENCE)
    .setJti(options.id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFETIME_SECONDS)
    .sign(new TextEncoder().encode(options.secret));
  return `Bearer ${token}`;
}
