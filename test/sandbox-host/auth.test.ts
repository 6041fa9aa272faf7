import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createRequestVerifier } from '../../sandbox-host/auth.ts';
import { bodyDigest } from '../../src/contract/request-token.ts';
import { signRequest } from '../../src/sandbox/sign-request.ts';

const secret = 'the secret of these tests, long enough';
const body = new TextEncoder().encode('{"a":1}');
const request = { method: 'POST', path: '/v1/runs?x=1', body };
const NOW = Date.UTC(2026, 0, 1);
let count = 0;
const sign = (change: Partial<typeof request & { secret: string; id: string; now: number }> = {}) => {
  count += 1;
  return signRequest({ ...request, ...change }, { secret, id: `token-number-${1_000 + count}`, now: NOW, ...change });
};
const verifierAt = (now: number) => createRequestVerifier(secret, () => now);

describe('createRequestVerifier', () => {
  it('accepts a signed request, once', async () => {
    const verify = verifierAt(NOW);
    const authorization = await sign();
    await verify({ ...request, authorization });
    await expect(verify({ ...request, authorization })).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The signature has been used already',
    });
    await verify({ ...request, authorization: await sign() });
  });

  it.each([
    ['method', { method: 'DELETE' }],
    ['path', { path: '/v1/runs?x=2' }],
    ['body', { body: new TextEncoder().encode('{"a":2}') }],
  ])('binds the %s', async (_, change) => {
    const verify = verifierAt(NOW);
    const authorization = await sign();
    await expect(verify({ ...request, ...change, authorization })).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The signature is for another request',
    });
    await verify({ ...request, authorization });
  });

  const refusal = (when: string) => `The request was signed ${when} by the clock of this sandbox host: it differs from the gateway’s`;
  it.each([
    [-3_600_000, refusal('3600 s from now')],
    [-6_000, refusal('6 s from now')],
    [-5_000, undefined],
    [0, undefined],
    [60_000, undefined],
    [64_000, undefined],
    [66_000, refusal('66 s ago')],
    [86_400_000, refusal('86400 s ago')],
  ])('%i ms after the signature: %s', async (ms, message) => {
    const verified = verifierAt(NOW + ms)({ ...request, authorization: await sign() });
    if (message === undefined) await verified;
    else await expect(verified).rejects.toMatchObject({ code: 'clock_skew', message });
  });

  it('tells nothing of the clock to one who does not know the secret', async () => {
    const authorization = await sign({ secret: 'another secret, of the same length' });
    await expect(verifierAt(NOW + 86_400_000)({ ...request, authorization })).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The signature is not valid',
    });
  });

  it('does not forget a token before it is too old, also when clocks differ', async () => {
    let now = NOW - 5_000;
    const verify = createRequestVerifier(secret, () => now);
    const authorization = await sign();
    await verify({ ...request, authorization });
    for (now = NOW; now <= NOW + 70_000; now += 1_000) {
      await expect(verify({ ...request, authorization })).rejects.toMatchObject({ code: expect.toBeOneOf(['unauthorized', 'clock_skew']) });
    }
  });

  it.each([
    ['nothing', undefined, 'The request is not signed'],
    ['another scheme', 'Basic YTpi', 'The request is not signed'],
    ['no token', 'Bearer nonsense', 'The signature is not valid'],
  ])('refuses %s', async (_, authorization, message) => {
    await expect(verifierAt(NOW)({ ...request, authorization })).rejects.toMatchObject({ code: 'unauthorized', message });
  });

  it('refuses another secret', async () => {
    const authorization = await sign({ secret: 'another secret, of the same length' });
    await expect(verifierAt(NOW)({ ...request, authorization })).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('refuses other algorithms, audiences, life times and missing claims', async () => {
    const issuedAt = NOW / 1_000;
    const claims = { htm: request.method, htu: request.path, bod: await bodyDigest(body), jti: 'a-token-of-16-and-more', iat: issuedAt };
    const key = new TextEncoder().encode(secret);
    const base = () => new SignJWT(claims).setAudience('omniroute-sandbox').setExpirationTime(issuedAt + 60);
    const { jti: _, ...withoutId } = claims;
    const tokens = [
      new UnsecuredJWT(claims)
        .setAudience('omniroute-sandbox')
        .setExpirationTime(issuedAt + 60)
        .encode(),
      await base().setProtectedHeader({ alg: 'HS512' }).sign(key),
      await base().setAudience('another').setProtectedHeader({ alg: 'HS256' }).sign(key),
      await new SignJWT(claims).setAudience('omniroute-sandbox').setProtectedHeader({ alg: 'HS256' }).sign(key),
      await new SignJWT(withoutId)
        .setAudience('omniroute-sandbox')
        .setExpirationTime(issuedAt + 60)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(key),
      await base()
        .setIssuedAt(issuedAt - 3_600)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(key),
    ];
    for (const token of tokens) {
      await expect(verifierAt(NOW)({ ...request, authorization: `Bearer ${token}` })).rejects.toMatchObject({
        code: expect.toBeOneOf(['unauthorized', 'clock_skew']),
      });
    }
    await verifierAt(NOW)({ ...request, authorization: `Bearer ${await base().setProtectedHeader({ alg: 'HS256' }).sign(key)}` });
  });
});
