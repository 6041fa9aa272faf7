import type { RunRequest } from '../src/contract/runs.ts';
import { type ContainerSource, createColdSource, type StartedContainer } from './container-source.ts';
import { BOOT_LABEL, type HostIdentity } from './create-body.ts';
import type { DockerEngine } from './docker-engine.ts';
import { HostError } from './host-error.ts';
import type { Logger } from './logger.ts';
import { makeWarmContainer, type WarmContainer } from './warm-container.ts';
import { allotPlaces } from './warm-demand.ts';
import { kindOf, usualKinds } from './warm-kind.ts';
import { WarmStock } from './warm-stock.ts';

export interface WarmLimits {
  /** Containers of each usual kind that are kept ready without any demand. */
  minWarm: number;
  /** Containers that are kept ready, of all kinds together; 0 keeps none. */
  maxWarm: number;
  maxWarmAgeMs: number;
  /** Whether containers with network access are kept ready too. */
  isNetworkWarm: boolean;
}

export interface WarmParts {
  engine: DockerEngine;
  identity: HostIdentity;
  limits: WarmLimits;
  images: readonly string[];
  /** Containers that are started at a time; more of them only slow each other down. */
  maxStarting: number;
  now: () => number;
  log: Logger;
}

export interface WarmCounts {
  ready: number;
  making: number;
  /** How many are wanted at present. */
  target: number;
}

/** A run that waits for a container. */
interface Waiting {
  request: RunRequest;
  stock: WarmStock | undefined;
  resolve(container: StartedContainer): void;
  reject(error: unknown): void;
}

const CHECK_MS = 10_000;
/** Kinds whose demand is known; runs of further ones get containers of their own. */
const MAX_KINDS = 64;

/**
 * Keeps containers ready, learns how many of which kind are needed, and starts one for a run that finds none. Starts are few at a time, those that a run
 * waits for before those for stock.
 */
export class WarmSource implements ContainerSource {
  readonly #parts: WarmParts;
  readonly #cold: ContainerSource;
  readonly #stocks = new Map<string, WarmStock>();
  readonly #pending = new Set<Promise<unknown>>();
  #waiting: Waiting[] = [];
  #starting = 0;
  #isRetired = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: WarmParts) {
    this.#parts = parts;
    this.#cold = createColdSource(parts.engine, parts.identity);
  }

  get counts(): WarmCounts {
    const stocks = [...this.#stocks.values()];
    return {
      ready: stocks.reduce((sum, { ready }) => sum + ready.length, 0),
      making: stocks.reduce((sum, { making }) => sum + making, 0),
      target: [...this.#targets().values()].reduce((sum, target) => sum + target, 0),
    };
  }

  /** What is ready, kind by kind. */
  get kinds(): {
    image: string;
    command: readonly string[];
    cpuLimit: number;
    memoryLimit: number;
    ready: number;
    making: number;
    target: number;
  }[] {
    const targets = this.#targets();
    return [...this.#stocks.values()].map((stock) => {
      const { kind, ready, making } = stock;
      const { cpuLimit, memoryLimit } = kind.limits;
      const command = kind.interpreter?.command ?? [];
      return { image: kind.image, command, cpuLimit, memoryLimit, ready: ready.length, making, target: targets.get(stock) ?? 0 };
    });
  }

  /** Makes the usual kinds ready, and checks what is ready from now on. */
  open(): void {
    const { images, limits } = this.#parts;
    for (const kind of usualKinds(images)) this.#stocks.set(kind.key, new WarmStock(kind, limits.minWarm));
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
    this.#pump();
  }

  take(request: RunRequest): Promise<StartedContainer> {
    const stock = this.#stockOf(request);
    stock?.demand.count(this.#parts.now());
    const container = stock?.take();
    if (container) {
      this.#pump();
      return Promise.resolve(container.handOver(request, true));
    }
    const { promise, resolve, reject } = Promise.withResolvers<StartedContainer>();
    this.#waiting.push({ request, stock, resolve, reject });
    this.#pump();
    return promise;
  }

  /** Removes what is ready and makes no more of it; runs still get containers. Resolves when none is left that has no run. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    clearInterval(this.#timer);
    for (const stock of this.#stocks.values()) this.#remove(stock.discard(() => true));
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** Removes what is dead, too old, of an image that is no longer the one of its name, or not needed any more, and replaces it. */
  async check(): Promise<void> {
    const { engine, identity, limits, now } = this.#parts;
    const targets = this.#targets();
    for (const stock of this.#stocks.values()) {
      this.#remove(stock.discard(({ madeAt, isAlive }) => !isAlive || madeAt + limits.maxWarmAgeMs <= now()));
      const surplus = stock.ready.length - (targets.get(stock) ?? 0);
      if (surplus > 0) this.#remove(stock.discard((container) => stock.ready.indexOf(container) < surplus));
      if (this.#isIdle(stock)) this.#stocks.delete(stock.kind.key);
    }
    const ready = [...this.#stocks.values()].flatMap((stock) => stock.ready);
    if (ready.length > 0) {
      try {
        const running = new Set(
          (await engine.listByLabel(`${BOOT_LABEL}=${identity.bootId}`)).filter(({ state }) => state === 'running').map(({ id }) => id),
        );
        const imageIds = new Map<string, string | undefined>();
        for (const { kind } of this.#stocks.values()) imageIds.set(kind.image, (await engine.inspectImage(kind.image))?.id);
        for (const stock of this.#stocks.values()) {
          const isBad = (container: WarmContainer) =>
            ready.includes(container) && !(running.has(container.containerId) && container.imageId === imageIds.get(stock.kind.image));
          this.#remove(stock.discard(isBad));
        }
      } catch (error) {
        this.#parts.log('warn', 'sandbox.warm.check_failed', { reason: error instanceof Error ? error.message : 'unknown' });
      }
    }
    this.#pump();
  }

  #stockOf(request: RunRequest): WarmStock | undefined {
    if (request.limits.networkEnabled && !this.#parts.limits.isNetworkWarm) return undefined;
    const kind = kindOf(request);
    if (!kind) return undefined;
    const known = this.#stocks.get(kind.key);
    if (known) return known;
    if (this.#stocks.size >= MAX_KINDS) return undefined;
    const stock = new WarmStock(kind, 0);
    this.#stocks.set(kind.key, stock);
    return stock;
  }

  #isIdle(stock: WarmStock): boolean {
    const isUsed = stock.floor > 0 || stock.making > 0 || stock.ready.length > 0 || stock.demand.isRemembered(this.#parts.now());
    return !isUsed && !this.#waiting.some((waiting) => waiting.stock === stock);
  }

  #targets(): Map<WarmStock, number> {
    const stocks = [...this.#stocks.values()];
    if (this.#isRetired) return new Map();
    const now = this.#parts.now();
    const wants = stocks.map(({ floor, demand }) => ({ floor, want: demand.want(now) }));
    const places = allotPlaces(wants, this.#parts.limits.maxWarm);
    return new Map(stocks.map((stock, index) => [stock, places[index] ?? 0]));
  }

  /** Starts what has to be started, as far as there is room. */
  #pump(): void {
    while (this.#starting < this.#parts.maxStarting) {
      const waiting = this.#nextWaiting();
      if (!waiting) break;
      if (waiting.stock?.kind.interpreter) this.#make(waiting.stock);
      else this.#startFor(waiting);
    }
    while (this.#starting < this.#parts.maxStarting) {
      const stock = this.#nextForStock();
      if (!stock) break;
      this.#make(stock);
    }
  }

  /** The first run for which nothing is being started. */
  #nextWaiting(): Waiting | undefined {
    const spare = new Map<WarmStock, number>();
    return this.#waiting.find(({ stock }) => {
      if (!stock) return true;
      const making = spare.get(stock) ?? stock.making;
      spare.set(stock, making - 1);
      return making <= 0;
    });
  }

  /** The kind that lacks most of what it should have. Makes room for it when there is none. */
  #nextForStock(): WarmStock | undefined {
    const { now, limits } = this.#parts;
    const targets = this.#targets();
    let neediest: { stock: WarmStock; share: number } | undefined;
    let total = 0;
    for (const [stock, target] of targets) {
      const waiting = this.#waiting.filter((other) => other.stock === stock).length;
      const has = stock.ready.length + Math.max(0, stock.making - waiting);
      total += has;
      if (has < target && stock.canStock(now()) && has / target < (neediest?.share ?? 1)) neediest = { stock, share: has / target };
    }
    if (neediest && total >= limits.maxWarm) {
      for (const [stock, target] of targets) {
        if (stock.ready.length > target) this.#remove(stock.discard((container) => stock.ready.indexOf(container) === 0));
      }
    }
    return neediest?.stock;
  }

  #track(promise: Promise<unknown>): void {
    this.#pending.add(promise);
    const forget = () => this.#pending.delete(promise);
    promise.then(forget, forget);
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

  #make(stock: WarmStock): void {
    const { engine, identity, now } = this.#parts;
    this.#starting += 1;
    stock.making += 1;
    const made = makeWarmContainer(engine, identity, stock.kind, now)
      .finally(() => {
        this.#starting -= 1;
        stock.making -= 1;
      })
      .then(
        (container) => this.#place(stock, container),
        (error) => this.#blame(stock, error),
      );
    this.#track(made.then(() => this.#pump()));
  }

  #shiftWaiting(stock: WarmStock): Waiting | undefined {
    const next = this.#waiting.find((waiting) => waiting.stock === stock);
    if (next) this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    return next;
  }

  #place(stock: WarmStock, container: WarmContainer): void {
    if (!container.isAlive) {
      this.#remove([container]);
      this.#blame(stock, new HostError('docker_unavailable', 'The container ended before it was used'));
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
    const retryMs = stock.fail(this.#parts.now());
    const cause = error instanceof HostError && error.cause instanceof Error ? error.cause : error;
    this.#parts.log('warn', 'sandbox.warm.failed', {
      image: stock.kind.image,
      reason: cause instanceof Error ? cause.message : 'unknown',
      retryMs,
    });
    setTimeout(() => this.#pump(), retryMs).unref();
  }

  #remove(containers: readonly WarmContainer[]): void {
    for (const { containerId } of containers) this.#track(this.#parts.engine.remove(containerId));
  }
}
