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
  const metrics = new RunMetrics();
  metrics.record(resultOf('a', { durationMs: 40, queuedMs: 0, warm: true, cpuMs: 12, maxMemoryBytes: 5_000_000 }), 70);
  metrics.record(resultOf('b', { durationMs: 30_000, queuedMs: 250, timedOut: true, killed: true, signal: 'SIGKILL' }), 30_250);
  metrics.refuse();
  const text = metrics.render({ active: 1, waiting: 2, capacity: 3, containers: 4, warm: { ready: 5, making: 6, target: 7 } });
  const values = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const of = (name: string) => values.filter((line) => line.startsWith(`omniroute_sandbox_${name}`));

  it('counts runs by how they ended and whether a container waited', () => {
    expect(of('runs_total')).toEqual([
      'omniroute_sandbox_runs_total{outcome="ok"} 1',
      'omniroute_sandbox_runs_total{outcome="error"} 0',
      'omniroute_sandbox_runs_total{outcome="timeout"} 1',
      'omniroute_sandbox_runs_total{outcome="oom"} 0',
      'omniroute_sandbox_runs_total{outcome="killed"} 0',
      'omniroute_sandbox_runs_total{outcome="refused"} 1',
    ]);
    expect(of('starts_total')).toEqual([
      'omniroute_sandbox_starts_total{start="warm"} 1',
      'omniroute_sandbox_starts_total{start="cold"} 1',
    ]);
    expect(of('signals_total')).toEqual(['omniroute_sandbox_signals_total{signal="SIGKILL"} 1']);
  });

  it('tells times in cumulative buckets', () => {
    expect(of('run_seconds')).toEqual([
      ...['0.005', '0.01', '0.025', '0.05'].map((bound) => `omniroute_sandbox_run_seconds_bucket{le="${bound}"} 0`),
      ...['0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30'].map((bound) => `omniroute_sandbox_run_seconds_bucket{le="${bound}"} 1`),
      'omniroute_sandbox_run_seconds_bucket{le="60"} 2',
      'omniroute_sandbox_run_seconds_bucket{le="+Inf"} 2',
      'omniroute_sandbox_run_seconds_sum 30.32',
      'omniroute_sandbox_run_seconds_count 2',
    ]);
    expect(of('program_seconds_sum')).toEqual(['omniroute_sandbox_program_seconds_sum 30.04']);
    expect(of('queued_seconds_sum')).toEqual(['omniroute_sandbox_queued_seconds_sum 0.25']);
  });

  it('tells what programs took, of those of which it is known', () => {
    expect(of('cpu_seconds_sum')).toEqual(['omniroute_sandbox_cpu_seconds_sum 0.012']);
    expect(of('cpu_seconds_count')).toEqual(['omniroute_sandbox_cpu_seconds_count 1']);
    expect(of('memory_bytes').slice(0, 3)).toEqual([
      'omniroute_sandbox_memory_bytes_bucket{le="4194304"} 0',
      'omniroute_sandbox_memory_bytes_bucket{le="8388608"} 1',
      'omniroute_sandbox_memory_bytes_bucket{le="16777216"} 1',
    ]);
  });

  it('tells how full the host is, and what waits', () => {
    expect(values.slice(-7)).toEqual([
      'omniroute_sandbox_runs_active 1',
      'omniroute_sandbox_runs_waiting 2',
      'omniroute_sandbox_capacity 3',
      'omniroute_sandbox_containers 4',
      'omniroute_sandbox_warm_ready 5',
      'omniroute_sandbox_warm_making 6',
      'omniroute_sandbox_warm_target 7',
    ]);
  });

  it("speaks Prometheus' text format", () => {
    for (const line of values) expect(line).toMatch(/^omniroute_sandbox_[a-z_]+(\{[a-z]+="[^"]+"\})? [0-9.e+]+$/);
    for (const name of new Set(values.map((line) => line.replace(/(_bucket|_sum|_count)?[{ ].*/, '')))) {
      expect(text).toMatch(new RegExp(`# HELP ${name} .+\n# TYPE ${name} (counter|gauge|histogram)\n${name}`));
    }
  });
});
