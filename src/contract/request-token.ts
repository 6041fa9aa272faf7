import * as z from 'zod';

/**
 * What the JWT (RFC 7519, HS256) of a request to the sandbox-host says, so that it is good for this one request alone.
 * Sent as `authorization: Bearer <token>`.
 */
export const requestClaims = z.object({
  /** Accepted once. */
  jti: z.string().min(16).max(64),
  iat: z.int(),
  exp: z.int(),
  /** HTTP method. */
  htm: z.string(),
  /** Path and query. */
  htu: z.string(),
  /** `bodyDigest` of the request's body. */
  bod: z.string(),
});

export const TOKEN_AUDIENCE = 'omniroute-sandbox';
export const TOKEN_LIFETIME_SECONDS = 60;

/** SHA-256 of the bytes, as lower-case hex. */
export async function bodyDigest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
