/** Within this time a container that was taken is replaced, also while the machine is busy. */
const REPLACEMENT_MS = 2_000;
const HALF_LIFE_MS = 120_000;
/** One request in a while says nothing about the next one; the second does. */
const REPEATED = 1.5;

/** Learns how many containers of one kind have to be there so that none of them is missed: the most that were taken at a time, forgotten slowly. */
export class WarmDemand {
  readonly #floor: number;
  #recent: number[] = [];
  #peak = 0;
  #taken = 0;
  #at = 0;

  constructor(floor: number) {
    this.#floor = floor;
  }

  /** Notes that one was asked for. `now` is in milliseconds, here as below. */
  count(now: number): void {
    this.#age(now);
    this.#recent = [...this.#recent.filter((at) => at > now - REPLACEMENT_MS), now];
    this.#peak = Math.max(this.#peak, this.#recent.length);
    this.#taken += 1;
  }

  /** How many should be there. */
  want(now: number): number {
    this.#age(now);
    return Math.max(this.#floor, this.#taken < REPEATED ? 0 : Math.round(this.#peak));
  }

  /** Whether it was asked for not long ago. */
  isRemembered(now: number): boolean {
    this.#age(now);
    return this.#taken >= 0.5;
  }

  #age(now: number): void {
    const kept = 0.5 ** (Math.max(0, now - this.#at) / HALF_LIFE_MS);
    this.#peak *= kept;
    this.#taken *= kept;
    this.#at = now;
  }
}

/**
 * Shares `max` places among kinds of containers: each kind's floor first, the earlier ones before the later ones, then place by place to whoever has
 * least of what it wants.
 */
export function allotPlaces(kinds: readonly { floor: number; want: number }[], max: number): number[] {
  let left = max;
  const places = kinds.map(({ floor }) => {
    const given = Math.min(floor, left);
    left -= given;
    return given;
  });
  for (; left > 0; left -= 1) {
    const shares = kinds.map(({ want }, index) => ((places[index] ?? 0) < want ? (places[index] ?? 0) / want : 1));
    const least = Math.min(...shares);
    if (!(least < 1)) break;
    const neediest = shares.indexOf(least);
    places[neediest] = (places[neediest] ?? 0) + 1;
  }
  return places;
}
