import type { Client, Measurement } from './client.ts';
import { describeSkills } from './compare.ts';
import type { Environment } from './environment.ts';
import { interleave } from './interleave.ts';
import type { Row } from './report.ts';
import { chatRequest } from './requests.ts';
import { median, percentile } from './statistics.ts';

const MAX_ADDED_MS = 1;

/**
 * What a round with calls of a handler that does nothing costs: the request with the round less the same request without it and less one
 * exchange with the upstream. The database's part is in it: a call is claimed before it runs, and what became of it is stored.
 */
export async function measureToolLoop(
  client: Client,
  environment: Environment,
  options: { skillCount: number; contextLength: number; rounds: number },
): Promise<Row[]> {
  const { skillCount, contextLength, rounds } = options;
  const product = environment.product(skillCount);
  const plain = chatRequest('plain', contextLength);
  const variants = {
    direct: { target: environment.direct, body: plain },
    plain: { target: product, body: plain },
    one: { target: product, body: chatRequest('calls-1', contextLength) },
    three: { target: product, body: chatRequest('calls-3', contextLength) },
  };
  const measured = await interleave(client, variants, { rounds, warmUpRounds: Math.ceil(rounds / 5) });
  const totals = (measurements: readonly Measurement[]) => measurements.map(({ totalMs }) => totalMs);
  const direct = median(totals(measured.direct));
  const without = median(totals(measured.plain));
  return (['one', 'three'] as const).map((name): Row => {
    const total = median(totals(measured[name]));
    const added = total - without - direct;
    return {
      case: `tool loop, ${name} owned call${name === 'one' ? '' : 's'}, total`,
      skills: describeSkills(skillCount),
      direct,
      product: total,
      'product p90': percentile(totals(measured[name]), 0.9),
      added,
      target: `added a round <= ${MAX_ADDED_MS}`,
      met: added <= MAX_ADDED_MS ? 'yes' : 'no',
    };
  });
}
