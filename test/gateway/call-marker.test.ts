import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurnId, markCallId, readCallMarker } from '../../src/gateway/call-marker.ts';

describe('call markers', () => {
  it('are opaque, valid in every provider and read back', () => {
    const turnId = createTurnId(() => '00112233-4455-6677-8899-aabbccddeeff');
    expect(turnId).toBe('ABEiM0RVZneImaq7zN3u_w');
    const marked = markCallId({ id: 'call_1', turnId, provisional: false });
    expect(marked).toBe('call_1_omrmABEiM0RVZneImaq7zN3u_w');
    expect(marked).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(readCallMarker(marked)).toEqual({ id: 'call_1', turnId, provisional: false });
    expect(readCallMarker(markCallId({ id: 'call_1', turnId, provisional: true }))?.provisional).toBe(true);
  });
  it.each(['call_1', '', '_omr', 'call_omrm', 'call_1_omrxABEiM0RVZneImaq7zN3u_w'])('are not seen in %j', (id) => {
    expect(readCallMarker(id)).toBeUndefined();
  });
  it('survive any id', () => {
    fc.assert(
      fc.property(fc.string(), fc.uuid(), fc.boolean(), (id, uuid, provisional) => {
        const marker = { id, turnId: createTurnId(() => uuid), provisional };
        expect(readCallMarker(markCallId(marker))).toEqual(marker);
      }),
    );
  });
});
