import type { Client, Measurement } from './client.ts';
import { describeSkills } from './compare.ts';
import type { Environment } from './environment.ts';
import { interleave, type Variant } from './interleave.ts';
import type { Row } from './report.ts';
import { writeRequest } from './requests.ts';
import { median, percentile } from './statistics.ts';

const MAX_ADDED_MS = 1;

export interface ToolLoopOptions {
  skillCount: number;
  contextLength: number;
  rounds: number;
}

const totalsOf = (measurements: readonly Measurement[]) => measurements.map(({ totalMs }) => totalMs);

/** Milliseconds that the database spends on one such request. */
async function measureDatabase(client: Client, environment: Environment, { target, request }: Variant, requests: number): Promise<number> {
  const before = await environment.databaseBusyMs();
  for (let count = 0; count < requests; count++) await client.send(target, request);
  return ((await environment.databaseBusyMs()) - before) / requests;
}

/**
 * What a round with calls of a handler that does nothing costs: the request with the round, less the same request without it, one exchange
 * with the upstream and what the database takes to keep the executions.
 */
export async function measureToolLoop(client: Client, environment: Environment, options: ToolLoopOptions): Promise<Row[]> {
  const { skillCount, contextLength, rounds } = options;
  const target = environment.product(skillCount);
  const plain = writeRequest('chat', 'plain', contextLength);
  const variants = {
    direct: { target: environment.direct, request: plain },
    plain: { target, request: plain },
    one: { target, request: writeRequest('chat', 'calls-1', contextLength) },
    three: { target, request: writeRequest('chat', 'calls-3', contextLength) },
  };
  const measured = await interleave(client, variants, { rounds, warmUpRounds: Math.ceil(rounds / 5) });
  const direct = median(totalsOf(measured.direct));
  const without = median(totalsOf(measured.plain));
  const rows: Row[] = [];
  for (const name of ['one', 'three'] as const) {
    const databaseMs = await measureDatabase(client, environment, variants[name], Math.ceil(rounds / 5));
    const product = median(totalsOf(measured[name]));
    const added = product - without - direct - databaseMs;
    rows.push({
      case: `tool loop, ${name} owned call${name === 'one' ? '' : 's'}, total`,
      format: 'chat',
      skills: describeSkills(skillCount),
      direct,
      product,
      'product p90': percentile(totalsOf(measured[name]), 0.9),
      added,
      value: `${databaseMs.toFixed(3)} in the database`,
      target: `added a round <= ${MAX_ADDED_MS}`,
      met: added <= MAX_ADDED_MS ? 'yes' : 'no',
    });
  }
  return rows;
}
