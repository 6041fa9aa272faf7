import type { RunRequest } from '../src/contract/runs.ts';
import { allotPlaces } from './warm-demand.ts';
import { kindOf, usualKinds } from './warm-kind.ts';
import { WarmStock } from './warm-stock.ts';

export interface WarmLimits {
  /** Containers of each usual kind that wait for a run without any demand. */
  minWarm: number;
  /** Containers that wait for a run, of all kinds together; 0 for none. */
  maxWarm: number;
  maxWarmAgeMs: number;
  /** Whether containers with network access wait for runs too. */
  isNetworkWarm: boolean;
}

export interface WarmCounts {
  ready: number;
  making: number;
  /** How many should be ready at present. */
  target: number;
}

/** The counts of one kind of container. */
export interface WarmKindCounts extends WarmCounts {
  image: string;
  /** The program that waits in it for its input; none when it waits for a command. */
  command: readonly string[];
  cpuLimit: number;
  memoryLimit: number;
}

/** Kinds whose demand is known; runs of further ones get containers of their own. */
const MAX_KINDS = 64;

/** The stocks of all kinds, and how many containers each of them should have. */
export class WarmStocks {
  readonly #limits: WarmLimits;
  readonly #now: () => number;
  readonly #stocks = new Map<string, WarmStock>();
  #isClosed = false;

  constructor(parts: { limits: WarmLimits; now: () => number }) {
    this.#limits = parts.limits;
    this.#now = parts.now;
  }

  get all(): WarmStock[] {
    return [...this.#stocks.values()];
  }

  get kinds(): WarmKindCounts[] {
    const targets = this.targets();
    return this.all.map((stock) => {
      const { image, interpreter, limits } = stock.kind;
      const ready = stock.countReady(this.#now());
      return {
        image,
        command: interpreter?.command ?? [],
        cpuLimit: limits.cpuLimit,
        memoryLimit: limits.memoryLimit,
        ready,
        making: stock.starting + stock.containers.length - ready,
        target: targets.get(stock) ?? 0,
      };
    });
  }

  get counts(): WarmCounts {
    const { kinds } = this;
    const sum = (count: (kind: WarmCounts) => number) => kinds.reduce((total, kind) => total + count(kind), 0);
    return { ready: sum(({ ready }) => ready), making: sum(({ making }) => making), target: sum(({ target }) => target) };
  }

  /** From now on the usual kinds are wanted, whatever the demand. */
  addUsual(images: readonly string[]): void {
    for (const kind of usualKinds(images)) this.#stocks.set(kind.key, new WarmStock(kind, this.#limits.minWarm));
  }

  /** From now on none is wanted. */
  close(): void {
    this.#isClosed = true;
  }

  /** The stock for a run; undefined when no container can wait for it. */
  of(request: RunRequest): WarmStock | undefined {
    if (request.limits.networkEnabled && !this.#limits.isNetworkWarm) return undefined;
    const kind = kindOf(request);
    if (!kind) return undefined;
    const known = this.#stocks.get(kind.key);
    if (known) return known;
    if (this.#stocks.size >= MAX_KINDS) return undefined;
    const stock = new WarmStock(kind, 0);
    this.#stocks.set(kind.key, stock);
    return stock;
  }

  targets(): Map<WarmStock, number> {
    const stocks = this.all;
    const wants = stocks.map(({ floor, demand }) => ({ floor, want: demand.want(this.#now()) }));
    const places = allotPlaces(wants, this.#isClosed ? 0 : this.#limits.maxWarm);
    return new Map(stocks.map((stock, index) => [stock, places[index] ?? 0]));
  }

  /** The stock that lacks most of what it should have, started ones counted but for those that runs wait for. */
  neediest(countWaiting: (stock: WarmStock) => number): WarmStock | undefined {
    let neediest: { stock: WarmStock; share: number } | undefined;
    for (const [stock, target] of this.targets()) {
      const share = (stock.containers.length + Math.max(0, stock.starting - countWaiting(stock))) / target;
      if (share < (neediest?.share ?? 1) && stock.mayGrow(this.#now())) neediest = { stock, share };
    }
    return neediest?.stock;
  }

  /** Whether all places are taken. */
  get isFull(): boolean {
    return this.all.reduce((total, { containers, starting }) => total + containers.length + starting, 0) >= this.#limits.maxWarm;
  }

  /** Drops the stock of a kind that nobody has asked for in a while. */
  forget(stock: WarmStock): void {
    const { floor, starting, containers, demand, kind } = stock;
    const isUsed = floor > 0 || starting > 0 || containers.length > 0 || demand.isRemembered(this.#now());
    if (!isUsed) this.#stocks.delete(kind.key);
  }
}
