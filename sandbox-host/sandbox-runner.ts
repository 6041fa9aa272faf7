import type { OutputStream, RunRequest, RunResult } from '../src/contract/runs.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { StartedContainer } from './container-source.ts';
import type { DockerEngine } from './docker-engine.ts';
import { HostError } from './host-error.ts';
import type { ProgramResult, ProgramWatcher } from './run-program.ts';

/** What a run needs besides its image, command and environment. */
export interface RunConfig extends Omit<RunRequest, 'image' | 'command' | 'env'> {
  onStart?(): void;
  onOutput?(stream: OutputStream, text: string): void;
}

export interface RunningContainer {
  runId: string;
  containerId: string;
  image: string;
  /** Milliseconds since the epoch. */
  takenAt: number;
}

/** How long a container may take to go by itself once its run is over. */
const REMOVAL_GRACE_MS = 2_000;

interface ActiveRun {
  controller: AbortController;
  /** Settles when the run's container is gone. */
  gone: Promise<void>;
}

const KILLED_BEFORE_START = {
  exitCode: 137,
  stdout: '',
  stderr: '',
  truncated: false,
  timedOut: false,
  oomKilled: false,
  killed: true,
  durationMs: 0,
  warm: false,
  files: [],
} as const;

const wasKilled = Symbol('killed');

const isUnavailable = (error: unknown): boolean => error instanceof HostError && error.code === 'docker_unavailable';

/** What the life of a run needs to know of its container. */
export type RunContainer = Pick<StartedContainer, 'containerId' | 'removed' | 'warm'>;

export interface SandboxRunnerParts<Container extends RunContainer> {
  engine: DockerEngine;
  /** Where containers come from; as `ContainerSource`. */
  source: { take(request: RunRequest): Promise<Container> };
  queue: AdmissionQueue;
  /** Runs the program in its container to its end; as `runProgram`. */
  drive(container: Container, request: RunRequest, watcher: ProgramWatcher): Promise<ProgramResult>;
}

/** Runs programs in containers, each in one of its own, as many at a time as the queue lets in. */
export class SandboxRunner<Container extends RunContainer = StartedContainer> {
  readonly #engine: DockerEngine;
  readonly #source: SandboxRunnerParts<Container>['source'];
  readonly #queue: AdmissionQueue;
  readonly #drive: SandboxRunnerParts<Container>['drive'];
  readonly #active = new Map<string, ActiveRun>();
  readonly #containers = new Map<string, RunningContainer>();

  constructor(parts: SandboxRunnerParts<Container>) {
    this.#engine = parts.engine;
    this.#source = parts.source;
    this.#queue = parts.queue;
    this.#drive = parts.drive;
  }

  /** Containers that exist at this moment, also those whose run has just ended. */
  get runningContainers(): RunningContainer[] {
    return [...this.#containers.values()];
  }

  /**
   * Runs a command to its end. The id must not be that of another active run. Rejects with a HostError when nothing has run, or with `internal_error` when
   * a started run was lost.
   */
  async run(image: string, command: string[], env: Record<string, string>, config: RunConfig): Promise<RunResult> {
    const { onStart, onOutput, ...rest } = config;
    const request: RunRequest = { ...rest, image, command, env };
    const controller = new AbortController();
    const { promise: gone, resolve: setGone } = Promise.withResolvers<void>();
    this.#active.set(request.id, { controller, gone });
    const queuedAt = Date.now();
    let container: Container | undefined;
    let release: (() => void) | undefined;
    try {
      release = await this.#queue.acquire(controller.signal);
      const queuedMs = Date.now() - queuedAt;
      let hasStarted = false;
      const watcher: ProgramWatcher = {
        signal: controller.signal,
        onStart() {
          hasStarted = true;
          onStart?.();
        },
        onOutput: (stream, text) => onOutput?.(stream, text),
      };
      container = await this.#take(request);
      const result = await this.#drive(container, request, watcher).catch(async (error) => {
        // One that died while it waited has not seen the run, which must not fail for that.
        if (!container?.warm || hasStarted || !isUnavailable(error)) throw error;
        await this.#clear(container);
        container = await this.#take(request);
        return this.#drive(container, request, watcher);
      });
      return { id: request.id, ...result, queuedMs, warm: container.warm };
    } catch (error) {
      if (error === wasKilled) return { id: request.id, ...KILLED_BEFORE_START, files: [], queuedMs: Date.now() - queuedAt };
      throw error;
    } finally {
      void this.#clear(container).then(() => {
        release?.();
        setGone();
        if (this.#active.get(request.id)?.gone === gone) this.#active.delete(request.id);
      });
    }
  }

  /** Ends a run, waiting or running. False when there is none of this id. */
  kill(id: string): boolean {
    const run = this.#active.get(id);
    run?.controller.abort(wasKilled);
    return run !== undefined;
  }

  /** Ends all runs and resolves with their number when no container of theirs is left. */
  async killAll(): Promise<number> {
    const runs = [...this.#active.values()];
    for (const { controller } of runs) controller.abort(wasKilled);
    await Promise.all(runs.map(({ gone }) => gone));
    return runs.length;
  }

  /** Resolves when no run is left, after `timeoutMs` at the latest. */
  async idle(timeoutMs: number): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    await Promise.race([timeout, Promise.all([...this.#active.values()].map(({ gone }) => gone))]);
    clearTimeout(timer);
  }

  async #take(request: RunRequest): Promise<Container> {
    const container = await this.#source.take(request);
    const { containerId } = container;
    this.#containers.set(containerId, { runId: request.id, containerId, image: request.image, takenAt: Date.now() });
    return container;
  }

  /** Sees to it that a container goes, with force when it does not by itself. */
  async #clear(container: Container | undefined): Promise<void> {
    if (!container) return;
    const removed = container.removed.then(
      () => true,
      () => false,
    );
    const { promise: timeout, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), REMOVAL_GRACE_MS);
    const isGone = await Promise.race([removed, timeout]);
    clearTimeout(timer);
    if (!isGone) await this.#engine.remove(container.containerId).catch(() => undefined);
    this.#containers.delete(container.containerId);
  }
}
