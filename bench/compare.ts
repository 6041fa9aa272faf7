import type { Client, Measurement } from './client.ts';
import type { Environment } from './environment.ts';
import { interleave } from './interleave.ts';
import type { Row } from './report.ts';
import { chatRequest } from './requests.ts';
import { countOn } from './skills.ts';
import { median, percentile } from './statistics.ts';
import type { Scenario } from './upstream/scenario.ts';

const METRICS = {
  total: (measurements: readonly Measurement[]) => measurements.map(({ totalMs }) => totalMs),
  'first byte': (measurements: readonly Measurement[]) => measurements.map(({ firstByteMs }) => firstByteMs),
  'lag per chunk': (measurements: readonly Measurement[]) => measurements.flatMap(({ lagsMs }) => lagsMs),
};

interface Metric {
  of: keyof typeof METRICS;
  maxAddedMs?: number;
  maxRatio?: number;
}

/** A request that is sent to the upstream itself, through the bare proxy and through the product. */
export interface Comparison {
  label: string;
  scenario: Scenario;
  contextLength: number;
  skillCount: number;
  rounds: number;
  metrics: Metric[];
}

const targetOf = ({ maxAddedMs, maxRatio }: Metric): string | undefined =>
  maxAddedMs !== undefined ? `added <= ${maxAddedMs}` : maxRatio !== undefined ? `ratio <= ${maxRatio}` : undefined;

const verdict = (met: boolean) => (met ? ('yes' as const) : ('no' as const));

export const describeSkills = (count: number): string => `${count} (${countOn(count)} on)`;

/** How many skills the product adds to the request, as it says itself. */
async function countInjected({ url, apiKey }: { url: string; apiKey: string }, body: Buffer): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  await response.arrayBuffer();
  return (response.headers.get('x-omniroute-skills-injected') ?? '').split(', ').filter(Boolean).length;
}

/** Replies of which no two differ, whoever forwarded them. */
const areIdentical = (measured: Record<string, readonly Measurement[]>): boolean =>
  new Set(Object.values(measured).flatMap((measurements) => measurements.map(({ sha256 }) => sha256))).size === 1;

export async function compare(client: Client, environment: Environment, comparison: Comparison): Promise<Row[]> {
  const { label, scenario, contextLength, skillCount, rounds, metrics } = comparison;
  const body = chatRequest(scenario, contextLength);
  const product = environment.product(skillCount);
  const injected = await countInjected(product, body);
  const variants = {
    direct: { target: environment.direct, body },
    proxy: { target: environment.proxy, body },
    product: { target: product, body },
  };
  const measured = await interleave(client, variants, { rounds, warmUpRounds: Math.ceil(rounds / 5) });
  const rows = metrics.map((metric): Row => {
    const samples = METRICS[metric.of];
    const proxyMs = median(samples(measured.proxy));
    const productMs = median(samples(measured.product));
    const added = productMs - proxyMs;
    const ratio = productMs / proxyMs;
    const target = targetOf(metric);
    const met = added <= (metric.maxAddedMs ?? Number.POSITIVE_INFINITY) && ratio <= (metric.maxRatio ?? Number.POSITIVE_INFINITY);
    return {
      case: `${label}, ${metric.of}`,
      skills: describeSkills(skillCount),
      injected,
      direct: median(samples(measured.direct)),
      proxy: proxyMs,
      product: productMs,
      'product p90': percentile(samples(measured.product), 0.9),
      added,
      ratio,
      ...(target && { target, met: verdict(met) }),
    };
  });
  // A paced reply holds the time, so that no two are the same.
  if (injected > 0 || scenario === 'paced') return rows;
  const same = areIdentical(measured);
  const value = same ? 'the same' : 'differ';
  return [
    ...rows,
    { case: `${label}, bytes`, skills: describeSkills(skillCount), injected, value, target: 'the same', met: verdict(same) },
  ];
}
