import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/execution/sleep.ts';

describe('sleep', () => {
  it('resolves after the time', async () => {
    let woken = false;
    const sleeping = sleep(15, new AbortController().signal).then(() => {
      woken = true;
    });
    await Promise.resolve();
    expect(woken).toBe(false);
    await sleeping;
    expect(woken).toBe(true);
  });

  it('resolves at once when the signal fires, or has fired', async () => {
    const controller = new AbortController();
    const sleeping = sleep(600_000, controller.signal);
    controller.abort();
    await sleeping;
    await sleep(600_000, controller.signal);
  });
});
