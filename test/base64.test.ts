import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64 } from '../src/base64.ts';

describe('base64', () => {
  it('is that of Node, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(text)).toEqual(new Uint8Array(bytes));
      }),
    );
  });

  it('takes more bytes than a call takes arguments', () => {
    const bytes = new Uint8Array(1_048_576).fill(255);
    expect(Buffer.from(decodeBase64(encodeBase64(bytes)) ?? []).equals(bytes)).toBe(true);
  });

  it.each(['%', 'a', 'YQ=', 'ä', 'YQ==YQ=='])('answers %j with undefined', (text) => expect(decodeBase64(text)).toBeUndefined());
});
