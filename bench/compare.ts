import type { Client, Measurement, Target } from './client.ts';
import type { Environment } from './environment.ts';
import { interleave } from './interleave.ts';
import type { Row } from './report.ts';
import { type BenchRequest, type Format, writeRequest } from './requests.ts';
import { countOn } from './skills.ts';
import { median, percentile } from './statistics.ts';
import { isComplete, type Scenario } from './upstream/scenario.ts';

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
  format: Format;
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

/** How many skills the product adds to the request, as it says itself. Rejects when its reply is not all of what the upstream said. */
async function countInjected({ origin, apiKey }: Target, { path, body }: BenchRequest, scenario: Scenario): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: new Uint8Array(body) });
  const reply = await response.text();
  if (!isComplete(scenario, reply)) throw new Error(`${path} answered ${response.status} with an incomplete reply: ${reply}`);
  return (response.headers.get('x-omniroute-skills-injected') ?? '').split(', ').filter(Boolean).length;
}

/** Replies of which no two differ, whoever forwarded them. */
const areIdentical = (measured: Record<string, readonly Measurement[]>): boolean =>
  new Set(Object.values(measured).flatMap((measurements) => measurements.map(({ sha256 }) => sha256))).size === 1;

export async function compare(client: Client, environment: Environment, comparison: Comparison): Promise<Row[]> {
  const { label, format, scenario, contextLength, skillCount, rounds, metrics } = comparison;
  const request = writeRequest(format, scenario, contextLength);
  const product = environment.product(skillCount);
  const injected = await countInjected(product, request, scenario);
  const variants = {
    direct: { target: environment.direct, request },
    proxy: { target: environment.proxy, request },
    product: { target: product, request },
  };
  const measured = await interleave(client, variants, { rounds, warmUpRounds: Math.ceil(rounds / 5) });
  const about = { format, skills: describeSkills(skillCount), injected };
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
      ...about,
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
  return [...rows, { case: `${label}, bytes`, ...about, value, target: 'the same', met: verdict(same) }];
}
