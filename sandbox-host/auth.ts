import { errors, jwtVerify } from 'jose';
import { bodyDigest, requestClaims, TOKEN_AUDIENCE, TOKEN_LIFETIME_SECONDS } from '../src/contract/request-token.ts';
import { HostError } from './host-error.ts';

export interface SignedRequest {
  authorization: string | undefined;
  method: string;
  /** Path and query. */
  path: string;
  body: Uint8Array<ArrayBuffer>;
}

/** How far the clocks of gateway and host may be apart. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** What the caller is told whose token jose refuses. Only a token that was signed with the secret has a time to tell. */
function refusalOf(cause: unknown, nowMs: number): HostError {
  const isClaim = cause instanceof errors.JWTExpired || cause instanceof errors.JWTClaimValidationFailed;
  const issuedAt = isClaim && (cause.claim === 'iat' || cause.claim === 'exp') ? cause.payload.iat : undefined;
  if (issuedAt === undefined) return new HostError('unauthorized', 'The signature is not valid', { cause });
  const seconds = Math.round(nowMs / 1_000 - issuedAt);
  const when = seconds < 0 ? `${-seconds} s from now` : `${seconds} s ago`;
  return new HostError('clock_skew', `The request was signed ${when} by the clock of this sandbox host: it differs from the gateway’s`, {
    cause,
  });
}

/** Checks that a request was signed with the secret, for this method, path and body, a moment ago, and that it has not been here before. Rejects with `unauthorized`, or with `clock_skew` when the time is all that is wrong. */
export function createRequestVerifier(secret: string, now: () => number): (request: SignedRequest) => Promise<void> {
  const key = new TextEncoder().encode(secret);
  /** Ids of accepted tokens, with the time in milliseconds after which they would be refused anyway; oldest first. */
  const seen = new Map<string, number>();

  function forgetOld(): void {
    for (const [jti, until] of seen) {
      if (until > now()) break;
      seen.delete(jti);
    }
  }

  return async ({ authorization, method, path, body }) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new HostError('unauthorized', 'The request is not signed');
    const claims = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      audience: TOKEN_AUDIENCE,
      maxTokenAge: TOKEN_LIFETIME_SECONDS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now()),
    }).then(
      ({ payload }) => requestClaims.safeParse(payload),
      (cause) => {
        throw refusalOf(cause, now());
      },
    );
    if (!claims.success) throw new HostError('unauthorized', 'The signature lacks a claim');
    const { jti, htm, htu, bod } = claims.data;
    if (htm !== method || htu !== path || bod !== (await bodyDigest(body))) {
      throw new HostError('unauthorized', 'The signature is for another request');
    }
    forgetOld();
    if (seen.has(jti)) throw new HostError('unauthorized', 'The signature has been used already');
    seen.set(jti, now() + (TOKEN_LIFETIME_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS) * 1_000);
  };
}
