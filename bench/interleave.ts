import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client, Measurement, Target } from './client.ts';

export interface Variant {
  target: Target;
  body: Buffer;
}

export interface InterleaveOptions {
  rounds: number;
  /** Rounds before, whose measurements are dropped. */
  warmUpRounds: number;
}

/**
 * Measures the variants in turns, each round beginning with another one, so that whatever else the machine does meets all of them alike.
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
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUpRounds + turn) % names.length]!;
      const { target, body } = variants[name];
      const measurement = await client.send(target, body);
      if (round >= 0) measurements[name].push(measurement);
      // Lets the connection go back to the client's pool.
      await nextTurn();
    }
  }
  return measurements;
}
