import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile } from '../statistics.ts';
import type { Answer, BenchHost } from './host.ts';

export interface SustainedFigures {
  started: number;
  failed: number;
  median: number;
  p99: number;
  /** Runs that ended in a second, from the first start to the last end. */
  perSecond: number;
}

/** Starts a run at even distances, whether the ones before have ended or not. `run` rejects when one fails. */
export async function measureSustained(
  run: (index: number) => Promise<unknown>,
  perSecond: number,
  seconds: number,
): Promise<SustainedFigures> {
  const times: number[] = [];
  let failed = 0;
  const runs: Promise<void>[] = [];
  const start = performance.now();
  for (let index = 0; index < perSecond * seconds; index++) {
    await sleep(Math.max(0, start + (index * 1_000) / perSecond - performance.now()));
    const startedAt = performance.now();
    runs.push(
      run(index).then(
        () => {
          times.push(performance.now() - startedAt);
        },
        (error: unknown) => {
          failed += 1;
          console.error(error instanceof Error ? error.message : error);
        },
      ),
    );
  }
  await Promise.all(runs);
  const took = (performance.now() - start) / 1_000;
  return { started: runs.length, failed, median: median(times), p99: percentile(times, 0.99), perSecond: times.length / took };
}

export interface OverloadFigures {
  answered: number;
  refused: number;
  /** Answers that are neither a result nor a refusal with a time to come back. */
  other: number;
}

/** Sends so many runs at once. */
export async function measureOverload(host: BenchHost, count: number): Promise<OverloadFigures> {
  const run = { image: 'alpine:3.20', command: ['echo', '42'] };
  const answers = await Promise.all(Array.from({ length: count }, () => host.post(run)));
  const isResult = ({ status, text }: Answer) => status === 200 && JSON.parse(text).stdout === '42\n';
  const isRefusal = ({ status, retryAfter, text }: Answer) =>
    status === 429 && Number(retryAfter) > 0 && JSON.parse(text).code === 'queue_full';
  const answered = answers.filter(isResult).length;
  const refused = answers.filter(isRefusal).length;
  return { answered, refused, other: count - answered - refused };
}
