import type { RunRequest } from '../src/contract/runs.ts';
import { type ContainerSource, createColdSource, type StartedContainer } from './container-source.ts';
import type { HostIdentity } from './create-body.ts';
import type { DockerEngine } from './docker-engine.ts';
import { findUnfit } from './find-unfit.ts';
import { HostError } from './host-error.ts';
import type { Logger } from './logger.ts';
import { makeWarmContainer, type WarmContainer } from './warm-container.ts';
import type { WarmStock } from './warm-stock.ts';
import { type WarmCounts, type WarmKindCounts, type WarmLimits, WarmStocks } from './warm-stocks.ts';

export interface WarmParts {
  engine: DockerEngine;
  identity: HostIdentity;
  limits: WarmLimits;
  images: readonly string[];
  /** Containers that are started at a time; more of them only slow each other down. */
  maxStarting: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** A run that waits for a container. */
interface Waiting {
  request: RunRequest;
  stock: WarmStock | undefined;
  resolve(container: StartedContainer): void;
  reject(error: unknown): void;
}

const CHECK_MS = 10_000;
/** What runs took is replaced when no run has come for a moment, so that it does not slow down those that have just begun, but not later than this. */
const CALM_MS = 100;
const MAX_CALM_MS = 400;
/** How long after a run more are expected. */
const BUSY_MS = 5_000;

/**
 * Has containers wait for runs, learns how many of which kind are needed, and starts one for a run that finds none. Few are started at a time, those that
 * a run waits for first.
 */
export class WarmSource implements ContainerSource {
  readonly #parts: WarmParts;
  readonly #cold: ContainerSource;
  readonly #stocks: WarmStocks;
  /** What `retire` has to wait for. */
  readonly #pending = new Set<Promise<unknown>>();
  #waiting: Waiting[] = [];
  #starting = 0;
  #lastTakeAt = Number.NEGATIVE_INFINITY;
  #lacksSince: number | undefined;
  #isRetired = false;
  #isChecking = false;
  #checks: NodeJS.Timeout | undefined;
  #pumping: NodeJS.Timeout | undefined;

  constructor(parts: WarmParts) {
    this.#parts = parts;
    this.#stocks = new WarmStocks(parts);
    this.#cold = createColdSource(parts.engine, parts.identity);
  }

  get counts(): WarmCounts {
    return this.#stocks.counts;
  }

  get kinds(): WarmKindCounts[] {
    return this.#stocks.kinds;
  }

  /** Has the usual kinds wait from now on. */
  open(): void {
    this.#stocks.addUsual(this.#parts.images);
    this.#checks = setInterval(() => void this.#checkInTurn(), CHECK_MS).unref();
    this.#pump();
  }

  take(request: RunRequest): Promise<StartedContainer> {
    const now = this.#parts.now();
    const stock = this.#stocks.of(request);
    stock?.demand.count(now);
    this.#lastTakeAt = now;
    const container = stock?.take();
    if (container) {
      this.#pump();
      return Promise.resolve(container.handOver(request, container.ripeAt <= now));
    }
    const { promise, resolve, reject } = Promise.withResolvers<StartedContainer>();
    this.#waiting.push({ request, stock, resolve, reject });
    this.#pump();
    return promise;
  }

  /** Removes what waits and has no more wait; runs still get containers. Resolves when none is left that has no run. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    this.#stocks.close();
    clearInterval(this.#checks);
    for (const stock of this.#stocks.all) this.#remove(stock.discard(() => true));
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** Removes what cannot get a run any more, is too old or is not needed, and replaces it. */
  async check(): Promise<void> {
    const { engine, identity, limits, now, log } = this.#parts;
    for (const [stock, target] of this.#stocks.targets()) {
      this.#remove(stock.discard(({ madeAt, isAlive }) => !isAlive || madeAt + limits.maxWarmAgeMs <= now()));
      const surplus = stock.containers.length - target;
      if (surplus > 0) this.#remove(stock.discard((_, index) => index < surplus));
      if (this.#countWaiting(stock) === 0) this.#stocks.forget(stock);
    }
    try {
      const unfit = await findUnfit(engine, identity, this.#stocks.all);
      for (const stock of this.#stocks.all) this.#remove(stock.discard((container) => unfit.has(container)));
    } catch (error) {
      log('warn', 'sandbox.warm.check_failed', { reason: error instanceof Error ? error.message : 'unknown' });
    }
    this.#pump();
  }

  /** Leaves a check out while Docker has not answered the one before. */
  async #checkInTurn(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    await this.check();
    this.#isChecking = false;
  }

  /** Starts what has to be started, as far as there is room. */
  #pump(): void {
    while (this.#starting < this.#parts.maxStarting) {
      const waiting = this.#nextWaiting();
      if (!waiting) break;
      if (waiting.stock?.kind.interpreter) this.#make(waiting.stock, this.#starting === 0);
      else this.#startFor(waiting);
    }
    while (this.#starting < this.#maxForStock()) {
      const stock = this.#stocks.neediest((one) => this.#countWaiting(one));
      if (!stock) {
        this.#lacksSince = undefined;
        break;
      }
      const waitMs = this.#calmInMs();
      if (waitMs > 0) {
        this.#pumpIn(waitMs);
        break;
      }
      if (this.#stocks.isFull) this.#makeRoom();
      this.#make(stock, false);
    }
  }

  /** While no runs come there is no haste, and the machine is left to others. */
  #maxForStock(): number {
    return this.#parts.now() - this.#lastTakeAt < BUSY_MS ? this.#parts.maxStarting : 1;
  }

  #pumpIn(ms: number): void {
    clearTimeout(this.#pumping);
    this.#pumping = setTimeout(() => this.#pump(), ms).unref();
  }

  /** How long runs that came just now are left alone. */
  #calmInMs(): number {
    const now = this.#parts.now();
    this.#lacksSince ??= now;
    return Math.min(this.#lastTakeAt + CALM_MS, this.#lacksSince + MAX_CALM_MS) - now;
  }

  /** The first run for which nothing is being started. */
  #nextWaiting(): Waiting | undefined {
    const spare = new Map<WarmStock, number>();
    return this.#waiting.find(({ stock }) => {
      if (!stock) return true;
      const starting = spare.get(stock) ?? stock.starting;
      spare.set(stock, starting - 1);
      return starting <= 0;
    });
  }

  /** Removes the oldest container of each kind that has more than it should by now. */
  #makeRoom(): void {
    for (const [stock, target] of this.#stocks.targets()) {
      if (stock.containers.length > target) this.#remove(stock.discard((_, index) => index === 0));
    }
  }

  #countWaiting(stock: WarmStock): number {
    return this.#waiting.filter((waiting) => waiting.stock === stock).length;
  }

  #startFor(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    this.#starting += 1;
    this.#cold
      .take(waiting.request)
      .finally(() => {
        this.#starting -= 1;
        this.#pump();
      })
      .then(waiting.resolve, waiting.reject);
  }

  #make(stock: WarmStock, isUrgent: boolean): void {
    const { engine, identity, now } = this.#parts;
    this.#starting += 1;
    stock.starting += 1;
    const made = makeWarmContainer(engine, identity, stock.kind, { isUrgent, now })
      .finally(() => {
        this.#starting -= 1;
        stock.starting -= 1;
      })
      .then(
        (container) => this.#place(stock, container),
        (error) => this.#blame(stock, error),
      );
    this.#track(made.then(() => this.#pump()));
  }

  #place(stock: WarmStock, container: WarmContainer): void {
    if (!container.isAlive) {
      this.#remove([container]);
      this.#blame(stock, new HostError('docker_unavailable', 'The container ended before it had a run'));
      return;
    }
    const waiting = this.#shiftWaiting(stock);
    if (waiting) {
      waiting.resolve(container.handOver(waiting.request, false));
    } else if (this.#isRetired) {
      this.#remove([container]);
    } else {
      stock.add(container);
      container.onEnd(() => this.#replaceDead(stock, container));
    }
  }

  #replaceDead(stock: WarmStock, container: WarmContainer): void {
    const dead = stock.discard((other) => other === container);
    if (dead.length === 0) return;
    this.#remove(dead);
    this.#pump();
  }

  #blame(stock: WarmStock, error: unknown): void {
    const waiting = this.#shiftWaiting(stock);
    waiting?.reject(error);
    if (waiting || this.#isRetired) return;
    const { now, log } = this.#parts;
    const retryMs = stock.fail(now());
    const cause = error instanceof HostError && error.cause instanceof Error ? error.cause : error;
    log('warn', 'sandbox.warm.failed', { image: stock.kind.image, reason: cause instanceof Error ? cause.message : 'unknown', retryMs });
    setTimeout(() => this.#pump(), retryMs).unref();
  }

  #shiftWaiting(stock: WarmStock): Waiting | undefined {
    const next = this.#waiting.find((waiting) => waiting.stock === stock);
    if (next) this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    return next;
  }

  #remove(containers: readonly WarmContainer[]): void {
    for (const { containerId } of containers) this.#track(this.#parts.engine.remove(containerId));
  }

  #track(promise: Promise<unknown>): void {
    this.#pending.add(promise);
    const forget = () => this.#pending.delete(promise);
    promise.then(forget, forget);
  }
}
