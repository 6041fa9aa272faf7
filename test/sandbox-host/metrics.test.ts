import { describe, expect, it } from 'vitest';
import { outcomeOf, RunMetrics } from '../../sandbox-host/metrics.ts';
import { resultOf } from '../support/sandbox-server.ts';

describe('outcomeOf', () => {
  it.each([
    [{}, 'ok'],
    [{ exitCode: 1 }, 'error'],
    [{ exitCode: 137, killed: true }, 'killed'],
    [{ exitCode: 137, killed: true, timedOut: true }, 'timeout'],
    [{ exitCode: 137, oomKilled: true }, 'oom'],
  ])('%j is %s', (change, outcome) => {
    expect(outcomeOf(resultOf('a', change))).toBe(outcome);
  });
});

describe('RunMetrics', () => {
  it("speaks Prometheus' text format", () => {
    const metrics = new RunMetrics();
    metrics.count('ok', 70);
    metrics.count('timeout', 30_250);
    metrics.count('refused', 0);
    const text = metrics.render({ active: 1, waiting: 2, capacity: 3, containers: 4 });
    const values = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(values).toEqual([
      'omniroute_sandbox_runs_total{outcome="ok"} 1',
      'omniroute_sandbox_runs_total{outcome="error"} 0',
      'omniroute_sandbox_runs_total{outcome="timeout"} 1',
      'omniroute_sandbox_runs_total{outcome="oom"} 0',
      'omniroute_sandbox_runs_total{outcome="killed"} 0',
      'omniroute_sandbox_runs_total{outcome="refused"} 1',
      'omniroute_sandbox_run_seconds_bucket{le="0.05"} 0',
      ...['0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30'].map((bound) => `omniroute_sandbox_run_seconds_bucket{le="${bound}"} 1`),
      'omniroute_sandbox_run_seconds_bucket{le="60"} 2',
      'omniroute_sandbox_run_seconds_bucket{le="+Inf"} 2',
      'omniroute_sandbox_run_seconds_sum 30.32',
      'omniroute_sandbox_run_seconds_count 2',
      'omniroute_sandbox_runs_active 1',
      'omniroute_sandbox_runs_waiting 2',
      'omniroute_sandbox_capacity 3',
      'omniroute_sandbox_containers 4',
    ]);
    for (const name of new Set(values.map((line) => line.replace(/(_bucket|_sum|_count)?[{ ].*/, '')))) {
      expect(text).toContain(`# TYPE ${name} `);
    }
  });
});
