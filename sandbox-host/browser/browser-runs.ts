import {
  BROWSER_NOT_CONFIGURED,
  type BrowserRunRequest,
  type BrowserRunResult,
  browserOutcome,
  MAX_BROWSER_STEPS,
  MAX_SCREENSHOT_BYTES,
} from '../../src/contract/browser-runs.ts';
import { type RunRequest, type RunResult, runLimits } from '../../src/contract/runs.ts';
import { AdmissionQueue } from '../admission-queue.ts';
import type { HostConfig } from '../config.ts';
import type { HostIdentity } from '../create-body.ts';
import type { DockerEngine } from '../docker-engine.ts';
import { HostError } from '../host-error.ts';
import type { RunRegistry } from '../run-registry.ts';
import { createRunnerRegistry } from '../runner-registry.ts';
import { type RunningContainer, SandboxRunner } from '../sandbox-runner.ts';
import { createBrowserSource } from './browser-source.ts';
import type { Egress } from './egress.ts';
import { runBrowser } from './run-browser.ts';

export interface BrowserRuns {
  /** Runs steps in a browser of their own; as `RunRegistry.join`. Rejects with `browser_disabled` where there is no browser. */
  join(request: BrowserRunRequest, signal: AbortSignal): Promise<BrowserRunResult>;
  kill(id: string): boolean;
  killAll(): Promise<number>;
  idle(timeoutMs: number): Promise<void>;
  /** Lets no more runs in. */
  close(): void;
  readonly active: RunRegistry['active'];
  readonly containers: RunningContainer[];
}

export interface BrowserRunsParts {
  config: HostConfig['browser'];
  engine: DockerEngine;
  identity: HostIdentity;
  egress: Egress;
  now: () => number;
  /** Is told how each run ended, undefined when it did not come to its end. */
  onEnd(result: RunResult | undefined, totalMs: number): void;
}

/** A browser run as any other: the driver is the program, the steps are its stdin, and what came of them its stdout. */
function toRun({ id, steps, timeoutMs, maxTextChars }: BrowserRunRequest, image: string): RunRequest {
  const limits = { maxTextChars, maxScreenshotBytes: MAX_SCREENSHOT_BYTES };
  return {
    id,
    image,
    command: ['browser'],
    env: {},
    stdin: JSON.stringify({ steps, limits }),
    files: [],
    returnFiles: false,
    limits: runLimits.parse({ timeoutMs }),
  };
}

function toBrowserResult({ id, stdout, timedOut, oomKilled, killed, durationMs, queuedMs }: RunResult): BrowserRunResult {
  const { results, error } = stdout === '' ? { results: [], error: null } : browserOutcome.parse(JSON.parse(stdout));
  return { id, results: results.slice(0, MAX_BROWSER_STEPS), error, timedOut, oomKilled, killed, durationMs, queuedMs };
}

/** The browser runs of a host, which have places of their own, since a browser takes more of everything. */
export function createBrowserRuns({ config, engine, identity, egress, now, onEnd }: BrowserRunsParts): BrowserRuns {
  const { image, ...limits } = config;
  const queue = new AdmissionQueue(limits);
  const runner = new SandboxRunner({
    engine,
    queue,
    source: createBrowserSource(engine, identity, limits),
    drive: (...run) => runBrowser(egress, engine, ...run),
  });
  const registry = createRunnerRegistry({ runner, now, onEnd });
  return {
    async join(request, signal) {
      if (image === undefined) throw new HostError('browser_disabled', BROWSER_NOT_CONFIGURED);
      return toBrowserResult(await registry.join(toRun(request, image), signal).result);
    },
    kill: (id) => runner.kill(id),
    killAll: () => runner.killAll(),
    idle: (timeoutMs) => runner.idle(timeoutMs),
    close: () => queue.close(),
    get active() {
      return registry.active;
    },
    get containers() {
      return runner.runningContainers;
    },
  };
}
