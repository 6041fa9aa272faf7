import { AdmissionQueue } from '../../sandbox-host/admission-queue.ts';
import { createRequestVerifier } from '../../sandbox-host/auth.ts';
import { BodyBudget } from '../../sandbox-host/body-budget.ts';
import { RunMetrics } from '../../sandbox-host/metrics.ts';
import { RunRegistry, type StartRun } from '../../sandbox-host/run-registry.ts';
import { createServer, type ServerParts } from '../../sandbox-host/server.ts';
import type { RunResult } from '../../src/contract/runs.ts';

export const SERVER_SECRET = 'the secret of host and gateway in tests';

export const resultOf = (id: string, change: Partial<RunResult> = {}): RunResult => ({
  id,
  exitCode: 0,
  stdout: '',
  stderr: '',
  truncated: false,
  timedOut: false,
  oomKilled: false,
  killed: false,
  durationMs: 1,
  queuedMs: 0,
  warm: false,
  files: [],
  ...change,
});

/** The HTTP server of a sandbox-host over a `start` of the test's own, in place of containers. */
export function createTestServer(start: StartRun, change: Partial<ServerParts> = {}) {
  const killed: string[] = [];
  const kill = (id: string) => {
    killed.push(id);
    return true;
  };
  const queue = new AdmissionQueue({ maxConcurrent: 4, maxQueue: 4 });
  const app = createServer({
    config: { hostId: 'in-process', images: ['alpine:3.20'], networkAllowed: false, maxOutputChars: 1_000, maxFileBytes: 2_000 },
    cpus: 2,
    bootId: 'first-life',
    runner: { kill, killAll: async () => 0, runningContainers: [] },
    source: { counts: { ready: 1, making: 0, target: 2 }, kinds: [] },
    registry: new RunRegistry({ start, kill, now: () => Date.now() }),
    browsers: {
      join: () => Promise.reject(new Error('The test expects no browser')),
      kill: () => false,
      killAll: async () => 0,
      active: [],
      containers: [],
    },
    queue,
    bodies: new BodyBudget(134_217_728),
    metrics: new RunMetrics(),
    verify: createRequestVerifier(SERVER_SECRET, () => Date.now()),
    readiness: async () => ({ ready: true, docker: true, missingImages: [] }),
    log: () => undefined,
    ...change,
  });
  return { app, killed, queue };
}
