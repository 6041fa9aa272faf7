import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client, Measurement, Target } from './client.ts';
import type { BenchRequest } from './requests.ts';

export interface Variant {
  target: Target;
  request: BenchRequest;
}

export interface InterleaveOptions {
  rounds: number;
  /** Rounds before, whose measurements are dropped. */
  warmUpRounds: number;
}

/** Another one first in each round, and backwards in every other, so that none always follows the same one. */
function orderOf<Name>(names: readonly Name[], round: number): Name[] {
  const start = Math.floor(round / 2) % names.length;
  const order = [...names.slice(start), ...names.slice(0, start)];
  return round % 2 === 0 ? order : order.reverse();
}

/**
 * Measures the variants in turns, so that whatever else the machine does meets all of them alike.
 * Resolves to the measurements of each by its name.
 */
export async function interleave<Name extends string>(
  client: Client,
  variants: Record<Name, Variant>,
  { rounds, warmUpRounds }: InterleaveOptions,
): Promise<Record<Name, Measurement[]>> {
  const names = Object.keys(variants) as Name[];
  const measurements = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Measurement[]>;
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const name of orderOf(names, round + warmUpRounds)) {
      const { target, request } = variants[name];
      const measurement = await client.send(target, request);
      if (round >= 0) measurements[name].push(measurement);
      // Lets the connection go back to the client's pool.
      await nextTurn();
    }
  }
  return measurements;
}
