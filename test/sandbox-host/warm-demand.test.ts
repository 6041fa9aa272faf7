import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allotPlaces, WarmDemand } from '../../sandbox-host/warm-demand.ts';

/** A demand that was counted at these milliseconds. */
function demandOf(floor: number, times: readonly number[]): WarmDemand {
  const demand = new WarmDemand(floor);
  for (const at of times) demand.count(at);
  return demand;
}

describe('WarmDemand', () => {
  it('wants its floor before anything was asked for', () => {
    expect(demandOf(2, []).want(0)).toBe(2);
    expect(demandOf(0, []).want(0)).toBe(0);
  });

  it('wants nothing for a single request, and one for two of them', () => {
    expect(demandOf(0, [1_000]).want(1_000)).toBe(0);
    expect(demandOf(0, [1_000, 20_000]).want(20_000)).toBe(1);
  });

  it('wants as many as were taken within two seconds at the most', () => {
    const burst = [0, 10, 20, 1_500, 1_900];
    expect(demandOf(1, burst).want(1_900)).toBe(5);
    expect(demandOf(1, [...burst, 60_000, 60_001]).want(60_001)).toBe(4);
    expect(demandOf(1, [0, 2_000, 4_000, 6_000]).want(6_000)).toBe(1);
  });

  it('forgets half of it in two minutes, down to the floor', () => {
    const demand = demandOf(1, Array(8).fill(0));
    expect([0, 120_000, 240_000, 360_000, 3_600_000].map((now) => demand.want(now))).toEqual([8, 4, 2, 1, 1]);
  });

  it('is remembered while it may be asked for again', () => {
    const demand = demandOf(0, [0]);
    expect(demand.isRemembered(1_000)).toBe(true);
    expect(demand.isRemembered(600_000)).toBe(false);
  });
});

describe('allotPlaces', () => {
  const kind = (floor: number, want: number) => ({ floor, want });
  it.each([
    ['all that is wanted where there is room', [kind(1, 3), kind(0, 2)], 10, [3, 2]],
    ['floors first', [kind(1, 9), kind(1, 1), kind(1, 1)], 3, [1, 1, 1]],
    ['the first floors where there is not even room for them', [kind(2, 2), kind(2, 2)], 3, [2, 1]],
    ['fair shares of what is left', [kind(1, 8), kind(1, 8)], 8, [4, 4]],
    ['more to who wants more', [kind(0, 12), kind(0, 4)], 8, [6, 2]],
    ['nothing where there is no room', [kind(1, 5)], 0, [0]],
    ['nothing to nobody', [], 5, []],
  ])('gives %s', (_, kinds, max, places) => {
    expect(allotPlaces(kinds, max)).toEqual(places);
  });

  it('never gives more than there is or than is wanted, and leaves nothing over that is', () => {
    const kinds = fc.array(
      fc.record({ floor: fc.nat(5), more: fc.nat(20) }).map(({ floor, more }) => kind(floor, floor + more)),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(kinds, fc.nat(40), (wants, max) => {
        const places = allotPlaces(wants, max);
        const total = places.reduce((sum, place) => sum + place, 0);
        const wanted = wants.reduce((sum, { want }) => sum + want, 0);
        expect(total).toBe(Math.min(max, wanted));
        for (const [index, { want }] of wants.entries()) expect(places[index]).toBeLessThanOrEqual(want);
      }),
    );
  });
});
