/** 2 ** 26 and 2 ** 53. */
const LOW_BITS = 67_108_864;
const ALL_BITS = 9_007_199_254_740_992;

/**
 * Replaces the engine's own source of random numbers, whose state would be the same in each run. It is xorshift64, on two halves of 32 bits:
 * https://www.jstatsoft.org/article/view/v008i14. Answers the function that gives it its seed.
 */
export function installRandom(): (high: number, low: number) => void {
  let high = 1;
  let low = 0;
  const { random } = {
    random(): number {
      high ^= (high << 13) | (low >>> 19);
      low ^= low << 13;
      low ^= (low >>> 7) | (high << 25);
      high ^= high >>> 7;
      high ^= (high << 17) | (low >>> 15);
      low ^= low << 17;
      return ((high >>> 5) * LOW_BITS + (low >>> 6)) / ALL_BITS;
    },
  };
  Object.defineProperty(Math, 'random', { value: random, writable: true, configurable: true });
  return (seedHigh, seedLow) => {
    // All zeros would stay so.
    high = seedHigh | 1;
    low = seedLow | 0;
    for (let round = 0; round < 8; round += 1) random();
  };
}
