import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type JsonReply, replySlowly } from '../../src/gateway/slow-reply.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const work = Promise.withResolvers<JsonReply>();
  const certain = Promise.withResolvers<void>();
  let left = false;
  const onLeave = () => {
    left = true;
  };
  const headers = () => new Headers({ 'content-type': 'application/json', 'x-early': 'yes' });
  const reply = replySlowly({ work: work.promise, certain: certain.promise, headers, onLeave, now: Date.now });
  return { work, certain, reply, hasLeft: () => left };
}
const done: JsonReply = { body: '{"done":true}', headers: { 'x-late': 'yes' } };

describe('replySlowly', () => {
  it('answers whole, with all headers, when the work is quick', async () => {
    const { work, certain, reply } = start();
    certain.resolve();
    work.resolve(done);
    const response = await reply;
    expect([response.headers.get('x-early'), response.headers.get('x-late'), await response.text()]).toEqual([
      'yes',
      'yes',
      '{"done":true}',
    ]);
  });

  it('waits with its status for as long as that is not certain', async () => {
    const { work, reply } = start();
    await vi.advanceTimersByTimeAsync(60_000);
    work.reject(new Error('refused'));
    await expect(reply).rejects.toThrow('refused');
  });

  it('begins with white space when the work is slow, and is valid JSON in the end', async () => {
    const { work, certain, reply } = start();
    certain.resolve();
    await vi.advanceTimersByTimeAsync(3_000);
    const response = await reply;
    expect([response.headers.get('x-early'), response.headers.get('x-late')]).toEqual(['yes', null]);
    const text = response.text();
    await vi.advanceTimersByTimeAsync(1_000);
    work.resolve(done);
    await vi.advanceTimersByTimeAsync(10);
    expect(await text).toMatch(/^ {2,}\{"done":true\}$/);
    expect(JSON.parse(await text)).toEqual({ done: true });
  });

  it('breaks off when slow work fails', async () => {
    const { work, certain, reply } = start();
    certain.resolve();
    await vi.advanceTimersByTimeAsync(3_000);
    const reading = expect((await reply).text()).rejects.toThrow('too late');
    work.reject(new Error('too late'));
    await reading;
  });

  it('tells of a client that leaves', async () => {
    const { certain, reply, hasLeft } = start();
    certain.resolve();
    await vi.advanceTimersByTimeAsync(3_000);
    await (await reply).body?.cancel();
    expect(hasLeft()).toBe(true);
  });
});
