import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signBody } from '../../src/webhooks/sign-body.ts';

describe('signBody', () => {
  it('is what openssl makes of it', async () => {
    expect(await signBody('{"skill":"weather"}', 'whsec_0123456789abcdef0123456789abcdef', new Date('2026-11-30T12:00:00.999Z'))).toBe(
      't=1796040000,v1=d8a001f36fac4573da71855e82ef7e262a22d3913ad360a8c4c914249732c82f',
    );
  });

  it('is the HMAC-SHA-256 of the seconds, a dot and the body, whatever these hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.nat(4e9),
        async (body, secret, time) => {
          const hex = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
          expect(await signBody(body, secret, new Date(time * 1_000 + 1))).toBe(`t=${time},v1=${hex}`);
        },
      ),
    );
  });
});
