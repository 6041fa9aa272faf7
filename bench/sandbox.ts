// What a run in a sandbox costs beside plain `docker run`: npm run bench:sandbox [-- --quick --only <text>]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatColumns, writeReport } from './report.ts';
import { type BurstFigures, measureBursts } from './sandbox/bursts.ts';
import { dockerRun } from './sandbox/docker-run.ts';
import { type Gateway, startGateway } from './sandbox/gateway.ts';
import { type HostProcess, startHost } from './sandbox/host.ts';
import { PROGRAMS, type Program } from './sandbox/programs.ts';
import { measureOverload, measureSustained } from './sandbox/sustained.ts';

const REPORT = join(import.meta.dirname, '..', 'dist', 'bench-sandbox.json');
/** The limit of the built-in skills, and a whole CPU; in thousandths. */
const DEFAULT_CPU_LIMIT = 100;
const WHOLE_CPU_LIMIT = 1_000;
const AT_ONCE = [1, 8, 32] as const;
const ROUNDS = { 1: 40, 8: 8, 32: 3 } as const;
const QUICK_ROUNDS = { 1: 5, 8: 1, 32: 0 } as const;
const SUSTAINED_PER_SECOND = 8;
const RUNS_IN_FLIGHT = 50;
/** Places and queue of the host that is flooded, and the runs it is flooded with. */
const FLOOD = { places: 10, queue: 20, runs: 60 };

const { values: options } = parseArgs({
  options: {
    /** A look in about a minute: fewer rounds, the default CPU limit alone, at most 8 at once. */
    quick: { type: 'boolean', default: false },
    /** Only the programs in whose name the text stands. */
    only: { type: 'string', default: '' },
  },
});

interface SandboxRow {
  case: string;
  cpu?: string;
  'at once'?: number;
  way?: string;
  median?: number;
  p99?: number;
  'runs/s'?: number;
  'found warm'?: string;
  /** Median by that of `docker run`. */
  ratio?: string;
  target?: string;
  met?: string;
}

const COLUMNS = ['case', 'cpu', 'at once', 'way', 'median', 'p99', 'runs/s', 'found warm', 'ratio', 'target', 'met'] as const;
const rows: SandboxRow[] = [];
const verdict = (met: boolean): string => (met ? 'yes' : 'no');
const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** What the median of a way may be of that of `docker run`. A container that waits is for a run; how many at once find one depends on how many wait. */
const TARGETS = {
  cold: { share: 0.75, text: '<= 0.75' },
  warm: { share: 1 / 25, text: '<= 1/25' },
  gateway: { share: 1 / 10, text: '<= 1/10' },
};

function report(program: Program, cpuLimit: number, atOnce: number, figures: Record<string, BurstFigures | undefined>): void {
  const baseline = figures['docker run']?.median ?? Number.NaN;
  for (const [way, measured] of Object.entries(figures)) {
    if (!measured) continue;
    const share = measured.median / baseline;
    const target = atOnce === 1 ? TARGETS[way as keyof typeof TARGETS] : undefined;
    rows.push({
      case: program.name,
      cpu: String(cpuLimit / 1_000),
      'at once': atOnce,
      way,
      median: measured.median,
      p99: measured.p99,
      'runs/s': measured.perSecond,
      ...(way === 'warm' && { 'found warm': percent(measured.warm) }),
      ...(way !== 'docker run' && { ratio: share < 0.5 ? `1/${(1 / share).toFixed(1)}` : share.toFixed(2) }),
      ...(target && { target: target.text, met: verdict(share <= target.share) }),
    });
  }
}

async function compareWays(gateway: Gateway, cold: HostProcess): Promise<void> {
  const rounds = options.quick ? QUICK_ROUNDS : ROUNDS;
  for (const program of PROGRAMS.filter(({ name }) => name.includes(options.only))) {
    for (const cpuLimit of options.quick ? [DEFAULT_CPU_LIMIT] : [DEFAULT_CPU_LIMIT, WHOLE_CPU_LIMIT]) {
      for (const atOnce of AT_ONCE) {
        if (rounds[atOnce] === 0) continue;
        const ways = {
          'docker run': { run: () => dockerRun(program, cpuLimit).then(() => undefined) },
          cold: { run: async () => (await cold.run(program, cpuLimit)).warm },
          warm: { run: async () => (await gateway.host.run(program, cpuLimit)).warm },
          ...(cpuLimit === DEFAULT_CPU_LIMIT && { gateway: { run: () => gateway.execute(program).then(() => undefined) } }),
        };
        const settle = async () => {
          await Promise.all([gateway.host.settle(), cold.settle()]);
        };
        const figures = await measureBursts(ways, { atOnce, rounds: rounds[atOnce], warmUpRounds: 1, settle });
        report(program, cpuLimit, atOnce, figures);
        console.error(`${program.name}, ${cpuLimit / 1_000} CPU, ${atOnce} at once: done`);
      }
    }
  }
}

async function sustain({ host }: Gateway): Promise<void> {
  const seconds = options.quick ? 10 : 30;
  for (const program of PROGRAMS.filter(({ name }) => name.includes(options.only))) {
    let warm = 0;
    const run = async () => {
      if ((await host.run(program, DEFAULT_CPU_LIMIT)).warm) warm += 1;
    };
    // The host learns how many are needed.
    await measureSustained(run, SUSTAINED_PER_SECOND, 5);
    await host.settle();
    warm = 0;
    const figures = await measureSustained(run, SUSTAINED_PER_SECOND, seconds);
    rows.push({
      case: `${program.name}, ${SUSTAINED_PER_SECOND} a second for ${seconds} s`,
      cpu: String(DEFAULT_CPU_LIMIT / 1_000),
      way: 'warm',
      median: figures.median,
      p99: figures.p99,
      'runs/s': figures.perSecond,
      'found warm': percent(warm / figures.started),
      target: 'p99 < 1000, none fails',
      met: verdict(figures.p99 < 1_000 && figures.failed === 0),
    });
    await host.settle();
  }
}

async function flood(): Promise<void> {
  const host = await startHost({ SANDBOX_MAX_CONCURRENT: String(FLOOD.places), SANDBOX_MAX_QUEUE: String(FLOOD.queue) });
  try {
    for (const count of [FLOOD.places + FLOOD.queue, FLOOD.runs]) {
      await host.settle();
      const { answered, refused, other } = await measureOverload(host, count);
      rows.push({
        case: `${count} runs at once, room for ${FLOOD.places + FLOOD.queue}`,
        way: `${answered} answered, ${refused} told to come back, ${other} failed`,
        target: 'as many as there is room for',
        met: verdict(answered >= Math.min(count, FLOOD.places + FLOOD.queue) && other === 0),
      });
    }
  } finally {
    await host.stop();
  }
}

async function measureMemory(): Promise<void> {
  const host = await startHost({ SANDBOX_MAX_CONCURRENT: String(RUNS_IN_FLIGHT), SANDBOX_WARM_MAX: '0' });
  try {
    await Promise.all(Array.from({ length: RUNS_IN_FLIGHT }, () => host.post({ image: 'alpine:3.20', command: ['sleep', '15'] })));
    const peak = host.peakMemoryMb();
    rows.push({
      case: `sandbox-host, ${RUNS_IN_FLIGHT} runs in flight`,
      way: `${peak.toFixed(0)} MiB at most`,
      target: '< 120 MiB',
      met: verdict(peak < 120),
    });
  } finally {
    await host.stop();
  }
}

const gateway = await startGateway();
try {
  const cold = await startHost({ SANDBOX_WARM_MAX: '0' });
  try {
    await compareWays(gateway, cold);
  } finally {
    await cold.stop();
  }
  await sustain(gateway);
} finally {
  await gateway.stop();
}
await flood();
if (!options.quick) await measureMemory();
console.log(formatColumns(COLUMNS, rows));
console.log('\nTimes are milliseconds.');
writeReport(REPORT, rows, options);
