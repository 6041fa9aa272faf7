import { availableParallelism } from 'node:os';
import type { RunResult } from '../src/contract/runs.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { createRequestVerifier } from './auth.ts';
import { BodyBudget } from './body-budget.ts';
import { createBrowserRuns } from './browser/browser-runs.ts';
import { createEgress, type Egress } from './browser/egress.ts';
import { checkRuntime } from './check-runtime.ts';
import type { HostConfig } from './config.ts';
import { createDockerEngine } from './docker-engine.ts';
import { withLastingRemovals } from './lasting-removals.ts';
import type { Logger } from './logger.ts';
import { RunMetrics } from './metrics.ts';
import { createReadiness } from './readiness.ts';
import { removeLeftovers } from './remove-leftovers.ts';
import { runProgram } from './run-program.ts';
import { createRunnerRegistry } from './runner-registry.ts';
import { SandboxRunner } from './sandbox-runner.ts';
import { createServer } from './server.ts';
import { WarmSource } from './warm-source.ts';

export interface SandboxHost {
  app: ReturnType<typeof createServer>;
  runner: SandboxRunner;
  /** Ends all runs, those of browsers too; resolves when no container is left. */
  killAll(): Promise<void>;
  /** Rejects with a MissingRuntimeError when Docker lacks the configured runtime. */
  checkRuntime(): Promise<void>;
  /** Removes what an earlier life of this host left; resolves with the number of containers. */
  sweep(): Promise<number>;
  /** Keeps containers ready from now on. */
  warmUp(): void;
  /** Whether containers may be left that Docker could not be made to remove so far. */
  readonly owesRemovals: boolean;
  /** Takes no more runs, lets those that run go on for at most `graceMs`, then kills them. Resolves when no container is left that Docker would remove. */
  drain(graceMs: number): Promise<void>;
}

const STARTS_PER_CPU = 2;
/** Each byte takes several while its request is read. */
const MAX_BODY_BYTES = 134_217_728;

/** Puts a sandbox-host together. */
export function createHost(config: HostConfig, bootId: string, log: Logger, egress: Egress = createEgress()): SandboxHost {
  const identity = { hostId: config.hostId, bootId, ...(config.runtime !== undefined && { runtime: config.runtime }) };
  const engine = withLastingRemovals(createDockerEngine(config.socketPath), bootId, log);
  const queue = new AdmissionQueue(config);
  const metrics = new RunMetrics();
  const now = () => Date.now();
  const cpus = availableParallelism();
  const { images, warm: limits } = config;
  const source = new WarmSource({ engine, identity, limits, images, maxStarting: STARTS_PER_CPU * cpus, now, log });
  const runner = new SandboxRunner({ engine, source, queue, drive: (...run) => runProgram(engine, ...run) });

  const registry = createRunnerRegistry({ runner, now, onEnd: record });
  const browsers = createBrowserRuns({
    config: config.browser,
    engine,
    identity,
    egress,
    now,
    onEnd: record,
  });

  function record(result: RunResult | undefined, totalMs: number): void {
    if (result === undefined) {
      metrics.refuse();
      return;
    }
    const outcome = metrics.record(result, totalMs);
    log('info', 'sandbox.run.complete', { id: result.id, outcome, exitCode: result.exitCode, warm: result.warm, totalMs });
  }

  const app = createServer({
    config,
    cpus,
    bootId,
    runner,
    source,
    registry,
    browsers,
    queue,
    bodies: new BodyBudget(MAX_BODY_BYTES),
    metrics,
    verify: createRequestVerifier(config.secret, now),
    readiness: createReadiness(engine, config.images, now),
    log,
  });
  const killAll = async () => {
    await Promise.all([runner.killAll(), browsers.killAll()]);
  };
  return {
    app,
    runner,
    killAll,
    checkRuntime: () => checkRuntime(engine, config.runtime),
    sweep: () => removeLeftovers(engine, identity),
    warmUp: () => source.open(),
    get owesRemovals() {
      return engine.owesRemovals;
    },
    async drain(graceMs) {
      queue.close();
      browsers.close();
      const retired = source.retire();
      await Promise.all([runner.idle(graceMs), browsers.idle(graceMs)]);
      await killAll();
      await retired;
    },
  };
}
