import { median, percentile } from '../statistics.ts';

/** A way to run a program, measured beside others. */
export interface Way {
  /** Runs it once; resolves to whether a container waited for it, as far as that is known. */
  run(): Promise<boolean | undefined>;
}

/** What `count` runs at a time took. Times are milliseconds, a rate is runs in a second. */
export interface BurstFigures {
  median: number;
  p99: number;
  perSecond: number;
  /** Share of the runs for which a container waited. */
  warm: number;
}

export interface BurstOptions {
  atOnce: number;
  rounds: number;
  /** Rounds before, from which the host learns what is needed. */
  warmUpRounds: number;
  /** Resolves when nothing of the rounds before is under way any more. */
  settle(): Promise<void>;
}

interface Sample {
  ms: number;
  warm: boolean | undefined;
}

async function timed({ run }: Way): Promise<Sample> {
  const start = performance.now();
  const warm = await run();
  return { ms: performance.now() - start, warm };
}

/**
 * Runs so many at once, in one way after the other and from the other end in every second round, each from rest, so that none pays for what another left to
 * be done.
 */
export async function measureBursts(ways: Readonly<Record<string, Way>>, options: BurstOptions): Promise<Record<string, BurstFigures>> {
  const { atOnce, rounds, warmUpRounds, settle } = options;
  const measured = Object.entries(ways).map(([name, way]) => ({ name, way, samples: [] as Sample[], seconds: 0 }));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const one of round % 2 === 0 ? measured : measured.toReversed()) {
      await settle();
      const start = performance.now();
      const burst = await Promise.all(Array.from({ length: atOnce }, () => timed(one.way)));
      if (round < 0) continue;
      one.seconds += (performance.now() - start) / 1_000;
      one.samples.push(...burst);
    }
  }
  const figures = measured.map(({ name, samples, seconds }): [string, BurstFigures] => {
    const times = samples.map(({ ms }) => ms);
    const warm = samples.filter((sample) => sample.warm).length / samples.length;
    return [name, { median: median(times), p99: percentile(times, 0.99), perSecond: times.length / seconds, warm }];
  });
  return Object.fromEntries(figures);
}
