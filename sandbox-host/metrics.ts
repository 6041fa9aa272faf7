import type { RunResult } from '../src/contract/runs.ts';

const SECONDS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export const RUN_OUTCOMES = ['ok', 'error', 'timeout', 'oom', 'killed', 'refused'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** How a run counts: `error` is an exit code other than 0, `refused` a run that never came to its end. */
export function outcomeOf(result: RunResult): RunOutcome {
  if (result.timedOut) return 'timeout';
  if (result.oomKilled) return 'oom';
  if (result.killed) return 'killed';
  return result.exitCode === 0 ? 'ok' : 'error';
}

/** Counts runs and tells them in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export class RunMetrics {
  readonly #runs = new Map<RunOutcome, number>(RUN_OUTCOMES.map((outcome) => [outcome, 0]));
  readonly #buckets = SECONDS_BUCKETS.map(() => 0);
  #seconds = 0;
  #timed = 0;

  /** `totalMs` is the time from the request to its answer. */
  count(outcome: RunOutcome, totalMs: number): void {
    this.#runs.set(outcome, (this.#runs.get(outcome) ?? 0) + 1);
    if (outcome === 'refused') return;
    const seconds = totalMs / 1_000;
    this.#seconds += seconds;
    this.#timed += 1;
    for (const [index, bound] of SECONDS_BUCKETS.entries()) {
      if (seconds <= bound) this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    }
  }

  render(gauges: { active: number; waiting: number; capacity: number; containers: number }): string {
    const gauge = (name: string, help: string, value: number) => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`];
    const lines = [
      '# HELP omniroute_sandbox_runs_total Runs that have ended, by outcome.',
      '# TYPE omniroute_sandbox_runs_total counter',
      ...[...this.#runs].map(([outcome, value]) => `omniroute_sandbox_runs_total{outcome="${outcome}"} ${value}`),
      '# HELP omniroute_sandbox_run_seconds From the request of a run to its answer.',
      '# TYPE omniroute_sandbox_run_seconds histogram',
      ...SECONDS_BUCKETS.map((bound, index) => `omniroute_sandbox_run_seconds_bucket{le="${bound}"} ${this.#buckets[index]}`),
      `omniroute_sandbox_run_seconds_bucket{le="+Inf"} ${this.#timed}`,
      `omniroute_sandbox_run_seconds_sum ${this.#seconds}`,
      `omniroute_sandbox_run_seconds_count ${this.#timed}`,
      ...gauge('omniroute_sandbox_runs_active', 'Runs that hold a place.', gauges.active),
      ...gauge('omniroute_sandbox_runs_waiting', 'Runs that wait for a place.', gauges.waiting),
      ...gauge('omniroute_sandbox_capacity', 'Runs at a time.', gauges.capacity),
      ...gauge('omniroute_sandbox_containers', 'Containers of runs that exist.', gauges.containers),
    ];
    return `${lines.join('\n')}\n`;
  }
}
