import type { WarmContainer } from './warm-container.ts';
import { WarmDemand } from './warm-demand.ts';
import type { WarmKind } from './warm-kind.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** The containers of one kind that are ready, oldest first, and what is known about the need for them. */
export class WarmStock {
  readonly kind: WarmKind;
  readonly floor: number;
  readonly demand: WarmDemand;
  /** Containers that are being made. */
  making = 0;
  #ready: WarmContainer[] = [];
  #retryMs = FIRST_RETRY_MS;
  #retryAt = 0;

  constructor(kind: WarmKind, floor: number) {
    this.kind = kind;
    this.floor = floor;
    this.demand = new WarmDemand(floor);
  }

  get ready(): readonly WarmContainer[] {
    return this.#ready;
  }

  add(container: WarmContainer): void {
    this.#ready.push(container);
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** The oldest, which has had the longest time to settle. */
  take(): WarmContainer | undefined {
    this.#ready = this.#ready.filter(({ isAlive }) => isAlive);
    return this.#ready.shift();
  }

  /** Takes out those that `isBad` says so of. */
  discard(isBad: (container: WarmContainer) => boolean): WarmContainer[] {
    const bad = this.#ready.filter(isBad);
    if (bad.length > 0) this.#ready = this.#ready.filter((container) => !bad.includes(container));
    return bad;
  }

  /** Whether one may be made that nobody waits for: not for a while after it failed. */
  canStock(now: number): boolean {
    return now >= this.#retryAt;
  }

  /** Notes that making one failed, and returns how long none is made for stock. */
  fail(now: number): number {
    const retryMs = this.#retryMs;
    this.#retryAt = now + retryMs;
    this.#retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    return retryMs;
  }
}
