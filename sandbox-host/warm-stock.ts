import type { WarmContainer } from './warm-container.ts';
import { WarmDemand } from './warm-demand.ts';
import type { WarmKind } from './warm-kind.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** The containers of one kind that have no run yet, oldest first, and what is known about the need for them. */
export class WarmStock {
  readonly kind: WarmKind;
  readonly floor: number;
  readonly demand: WarmDemand;
  /** Containers that are being started. */
  starting = 0;
  #containers: WarmContainer[] = [];
  #retryMs = FIRST_RETRY_MS;
  #retryAt = 0;

  constructor(kind: WarmKind, floor: number) {
    this.kind = kind;
    this.floor = floor;
    this.demand = new WarmDemand(floor);
  }

  /** All that are started. */
  get containers(): readonly WarmContainer[] {
    return this.#containers;
  }

  /** How many are ready. `now` is in milliseconds since the epoch, here as below. */
  countReady(now: number): number {
    return this.#containers.filter(({ ripeAt }) => ripeAt <= now).length;
  }

  add(container: WarmContainer): void {
    this.#containers.push(container);
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** The oldest that lives. */
  take(): WarmContainer | undefined {
    const index = this.#containers.findIndex(({ isAlive }) => isAlive);
    if (index < 0) return undefined;
    const [container] = this.#containers.splice(index, 1);
    return container;
  }

  /** Takes out those that `isBad` says so of. */
  discard(isBad: (container: WarmContainer, index: number) => boolean): WarmContainer[] {
    const bad = this.#containers.filter(isBad);
    if (bad.length > 0) this.#containers = this.#containers.filter((container) => !bad.includes(container));
    return bad;
  }

  /** Whether one may be made that no run waits for: not for a while after one failed. */
  mayGrow(now: number): boolean {
    return now >= this.#retryAt;
  }

  /** Notes that making one failed, and returns for how long none is made that no run waits for. */
  fail(now: number): number {
    const retryMs = this.#retryMs;
    this.#retryAt = now + retryMs;
    this.#retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    return retryMs;
  }
}
