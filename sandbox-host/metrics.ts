import type { RunResult } from '../src/contract/runs.ts';
import type { WarmCounts } from './warm-stocks.ts';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
const MIB = 1_048_576;
const BYTES_BUCKETS = [4, 8, 16, 32, 64, 128, 256, 512, 1_024].map((mebibytes) => mebibytes * MIB);

const RUN_OUTCOMES = ['ok', 'error', 'timeout', 'oom', 'killed', 'refused'] as const;
type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** How a run counts: `error` is an exit code other than 0, `refused` a run that never came to its end. */
export function outcomeOf(result: RunResult): RunOutcome {
  if (result.timedOut) return 'timeout';
  if (result.oomKilled) return 'oom';
  if (result.killed) return 'killed';
  return result.exitCode === 0 ? 'ok' : 'error';
}

const describe = (name: string, help: string, type: 'counter' | 'gauge' | 'histogram') => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const gauge = (name: string, help: string, value: number) => [...describe(name, help, 'gauge'), `${name} ${value}`];

/** A histogram of Prometheus, with its buckets cumulated when it is told. */
class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count += 1;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  render(): string[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return `${this.#name}_bucket{le="${bound}"} ${below}`;
    });
    return [
      ...describe(this.#name, this.#help, 'histogram'),
      ...buckets,
      `${this.#name}_bucket{le="+Inf"} ${this.#count}`,
      `${this.#name}_sum ${this.#sum}`,
      `${this.#name}_count ${this.#count}`,
    ];
  }
}

/** Counts runs and tells them in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export class RunMetrics {
  readonly #runs = new Map<RunOutcome, number>(RUN_OUTCOMES.map((outcome) => [outcome, 0]));
  readonly #starts = { warm: 0, cold: 0 };
  readonly #signals = new Map<string, number>();
  readonly #total = new Histogram('omniroute_sandbox_run_seconds', 'From the request of a run to its answer.', SECONDS_BUCKETS);
  readonly #queued = new Histogram('omniroute_sandbox_queued_seconds', 'How long runs waited for a place.', SECONDS_BUCKETS);
  readonly #program = new Histogram('omniroute_sandbox_program_seconds', "From a program's start to its end.", SECONDS_BUCKETS);
  readonly #cpu = new Histogram('omniroute_sandbox_cpu_seconds', 'CPU time of programs.', SECONDS_BUCKETS);
  readonly #memory = new Histogram('omniroute_sandbox_memory_bytes', 'The most memory that runs held at a time.', BYTES_BUCKETS);

  /** Counts a run that has ended; `totalMs` is the time from the request to its answer. */
  record(result: RunResult, totalMs: number): RunOutcome {
    const outcome = outcomeOf(result);
    this.#count(outcome);
    this.#starts[result.warm ? 'warm' : 'cold'] += 1;
    if (result.signal !== undefined) this.#signals.set(result.signal, (this.#signals.get(result.signal) ?? 0) + 1);
    this.#total.observe(totalMs / 1_000);
    this.#queued.observe(result.queuedMs / 1_000);
    this.#program.observe(result.durationMs / 1_000);
    if (result.cpuMs !== undefined) this.#cpu.observe(result.cpuMs / 1_000);
    if (result.maxMemoryBytes !== undefined) this.#memory.observe(result.maxMemoryBytes);
    return outcome;
  }

  /** Counts a run that never came to its end. */
  refuse(): void {
    this.#count('refused');
  }

  render(gauges: { active: number; waiting: number; capacity: number; containers: number; warm: WarmCounts }): string {
    const { warm } = gauges;
    const lines = [
      ...describe('omniroute_sandbox_runs_total', 'Runs that have ended, by outcome.', 'counter'),
      ...[...this.#runs].map(([outcome, value]) => `omniroute_sandbox_runs_total{outcome="${outcome}"} ${value}`),
      ...describe('omniroute_sandbox_starts_total', 'Runs by whether a container waited for them.', 'counter'),
      ...Object.entries(this.#starts).map(([start, value]) => `omniroute_sandbox_starts_total{start="${start}"} ${value}`),
      ...describe('omniroute_sandbox_signals_total', 'Programs that a signal ended.', 'counter'),
      ...[...this.#signals].map(([signal, value]) => `omniroute_sandbox_signals_total{signal="${signal}"} ${value}`),
      ...[this.#total, this.#queued, this.#program, this.#cpu, this.#memory].flatMap((histogram) => histogram.render()),
      ...gauge('omniroute_sandbox_runs_active', 'Runs that hold a place.', gauges.active),
      ...gauge('omniroute_sandbox_runs_waiting', 'Runs that wait for a place.', gauges.waiting),
      ...gauge('omniroute_sandbox_capacity', 'Runs at a time.', gauges.capacity),
      ...gauge('omniroute_sandbox_containers', 'Containers of runs that exist.', gauges.containers),
      ...gauge('omniroute_sandbox_warm_ready', 'Containers that wait for a run.', warm.ready),
      ...gauge('omniroute_sandbox_warm_making', 'Containers that are being made ready.', warm.making),
      ...gauge('omniroute_sandbox_warm_target', 'Containers that should wait for a run.', warm.target),
    ];
    return `${lines.join('\n')}\n`;
  }

  #count(outcome: RunOutcome): void {
    this.#runs.set(outcome, (this.#runs.get(outcome) ?? 0) + 1);
  }
}
