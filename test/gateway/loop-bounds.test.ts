import { describe, expect, it } from 'vitest';
import { createLoopBounds, cutText } from '../../src/gateway/loop-bounds.ts';
import type { ToolCall, ToolResult } from '../../src/providers/adapter.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';

const call = (name: string, value = {}): ToolCall => ({ id: 'call_1', name, arguments: { readable: true, value } });
const result = (failed: boolean): ToolResult => ({ callId: 'call_1', name: 'a', content: '{}', failed });

describe('cutText', () => {
  it('leaves a text alone that fits', () => {
    expect(cutText('héllo', 6)).toBe('héllo');
  });
  it('cuts at a code point and says how many bytes are gone', () => {
    expect(cutText('aé€😀', 4)).toBe('aé\n[cut: 7 of 10 bytes left out]');
    expect(cutText('😀😀', 7)).toBe('😀\n[cut: 4 of 8 bytes left out]');
    expect(cutText('abc', 0)).toBe('\n[cut: 3 of 3 bytes left out]');
  });
});

describe('createLoopBounds', () => {
  const at = { now: 0 };
  const bounds = (changes = {}) => createLoopBounds({ ...DEFAULT_SETTINGS, ...changes }, () => at.now);

  it('stops behind the last round that is allowed', () => {
    const { reasonToStop } = bounds({ maxRounds: 2 });
    expect([reasonToStop([call('a')]), reasonToStop([call('b')])]).toEqual([undefined, undefined]);
    expect(reasonToStop([call('c')])).toBe('The limit of 2 rounds is reached');
  });

  it('stops when the wall clock runs out', () => {
    at.now = 1_000;
    const { reasonToStop, remainingMs } = bounds({ loopTimeoutMs: 5_000 });
    at.now = 5_999;
    expect([remainingMs(), reasonToStop([call('a')])]).toEqual([1, undefined]);
    at.now = 6_000;
    expect([remainingMs(), reasonToStop([call('b')])]).toEqual([0, 'The limit of 5000 ms is reached']);
  });

  it('stops at the third identical call in a row, whatever the order of its keys', () => {
    const { reasonToStop } = bounds();
    expect(reasonToStop([call('a', { x: 1, y: 2 })])).toBeUndefined();
    expect(reasonToStop([call('a', { y: 2, x: 1 })])).toBeUndefined();
    expect(reasonToStop([call('b')])).toBeUndefined();
    expect(reasonToStop([call('a')])).toBeUndefined();
    expect(reasonToStop([call('a'), call('a')])).toBe('The same call was made 3 times in a row');
  });

  it('lets calls start early only while their round will be allowed', () => {
    const { mayStart, reasonToStop } = bounds({ maxRounds: 2 });
    expect(mayStart(call('a'))).toBe(true);
    reasonToStop([call('a')]);
    expect([mayStart(call('a')), mayStart(call('b'))]).toEqual([false, true]);
    reasonToStop([call('b')]);
    expect(mayStart(call('c'))).toBe(false);
  });

  it('ends after three rounds in a row in which every call failed', () => {
    const { endRound } = bounds();
    expect([endRound([result(true)]), endRound([result(true), result(true)])]).toEqual([undefined, undefined]);
    expect(endRound([result(true), result(false)])).toBeUndefined();
    expect([endRound([result(true)]), endRound([result(true)])]).toEqual([undefined, undefined]);
    expect(endRound([result(true)])).toBe('Every call failed in 3 rounds');
  });

  it('cuts results to what is left for the request, then stops', () => {
    const { shorten, reasonToStop } = bounds({ maxResultBytes: 300, maxRequestResultBytes: 500 });
    expect(shorten('x'.repeat(400))).toBe(`${'x'.repeat(300)}\n[cut: 100 of 400 bytes left out]`);
    expect(reasonToStop([call('a')])).toBeUndefined();
    expect(shorten('y'.repeat(300))).toBe(`${'y'.repeat(200)}\n[cut: 100 of 300 bytes left out]`);
    expect(reasonToStop([call('b')])).toBe('The limit of 500 bytes of results is reached');
  });
});
