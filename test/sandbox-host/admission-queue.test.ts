import { describe, expect, it } from 'vitest';
import { AdmissionQueue } from '../../sandbox-host/admission-queue.ts';

const never = new AbortController().signal;

describe('AdmissionQueue', () => {
  it('lets in as many as it may, then first come, first served', async () => {
    const queue = new AdmissionQueue({ maxConcurrent: 2, maxQueue: 2 });
    const order: string[] = [];
    const [first, second] = await Promise.all([queue.acquire(never), queue.acquire(never)]);
    const third = queue.acquire(never).then((release) => {
      order.push('third');
      return release;
    });
    const fourth = queue.acquire(never).then((release) => {
      order.push('fourth');
      return release;
    });
    expect([queue.admitted, queue.waiting]).toEqual([2, 2]);
    first();
    (await third)();
    (await fourth)();
    second();
    expect(order).toEqual(['third', 'fourth']);
    expect([queue.admitted, queue.waiting]).toEqual([0, 0]);
  });

  it('refuses past the queue and says when to come back', async () => {
    const queue = new AdmissionQueue({ maxConcurrent: 1, maxQueue: 0 });
    const release = await queue.acquire(never);
    await expect(queue.acquire(never)).rejects.toMatchObject({
      code: 'queue_full',
      message: 'This sandbox host is full, try again in 1 s',
      retryAfterSeconds: 1,
    });
    release();
    (await queue.acquire(never))();
  });

  it('lets those who wait leave', async () => {
    const queue = new AdmissionQueue({ maxConcurrent: 1, maxQueue: 5 });
    const release = await queue.acquire(never);
    const leaving = new AbortController();
    const left = queue.acquire(leaving.signal);
    const stays = queue.acquire(never);
    leaving.abort('gone');
    await expect(left).rejects.toBe('gone');
    expect(queue.waiting).toBe(1);
    release();
    (await stays)();
    await expect(queue.acquire(leaving.signal)).rejects.toBe('gone');
    expect(queue.admitted).toBe(0);
  });

  it('lets nobody in once it is closed', async () => {
    const queue = new AdmissionQueue({ maxConcurrent: 1, maxQueue: 5 });
    const release = await queue.acquire(never);
    const waiting = queue.acquire(never);
    queue.close();
    expect(queue.closed).toBe(true);
    const refusal = { code: 'draining', message: 'This sandbox host is shutting down' };
    await expect(waiting).rejects.toMatchObject(refusal);
    release();
    await expect(queue.acquire(never)).rejects.toMatchObject(refusal);
    expect(queue.admitted).toBe(0);
  });
});
