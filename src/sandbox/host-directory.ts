import type { SandboxPool } from '../env.ts';

/** Where a request came in, as in Cloudflare's `request.cf`. */
export interface Location {
  colo?: string | undefined;
  continent?: string | undefined;
}

const FIRST_COOLDOWN_MS = 2_000;
const MAX_COOLDOWN_MS = 60_000;

export interface HostFailure {
  /** Milliseconds since 1970. */
  at: number;
  reason: string;
}

/** What this isolate knows of one sandbox-host. */
export class KnownHost {
  readonly url: string;
  /** Runs of ours that are under way there. */
  inFlight = 0;
  /** Its life as its last answer named it. */
  life: string | undefined;
  /** Runs in its last answer, and how many it takes at a time. */
  #reported = 0;
  #capacity = 1;
  #failures = 0;
  #leftOutUntil = 0;
  #lastFailure: HostFailure | null = null;

  constructor(url: string) {
    this.url = url;
  }

  /** How full it seems: 1 is full. */
  get load(): number {
    return (this.#reported + this.inFlight) / this.#capacity;
  }

  /** Whether it failed last time and has to answer a probe before it gets a run. */
  get isSuspect(): boolean {
    return this.#failures > 0;
  }

  /** How often it failed since it last worked. */
  get failures(): number {
    return this.#failures;
  }

  /** Milliseconds since 1970. */
  get leftOutUntil(): number {
    return this.#leftOutUntil;
  }

  /** Also of a host that works again. */
  get lastFailure(): HostFailure | null {
    return this.#lastFailure;
  }

  isLeftOut(now: number): boolean {
    return now < this.#leftOutUntil;
  }

  /** Takes the value of the load header. */
  reportLoad(header: string | null): void {
    const [, runs, capacity] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(header ?? '') ?? [];
    if (runs === undefined) return;
    // The report counts the run that is answered as well, which is over.
    this.#reported = Math.max(0, Number(runs) - this.inFlight);
    this.#capacity = Number(capacity);
  }

  reportSuccess(): void {
    this.#failures = 0;
    this.#leftOutUntil = 0;
  }

  reportFailure(now: number, reason: string): void {
    this.#lastFailure = { at: now, reason };
    this.#leftOutUntil = now + Math.min(FIRST_COOLDOWN_MS * 2 ** this.#failures, MAX_COOLDOWN_MS);
    this.#failures += 1;
  }
}

/** The pools in the order of trial: that of the colo, that of the continent, else the first; then the others as configured. */
export function orderPools(pools: readonly SandboxPool[], { colo, continent }: Location): SandboxPool[] {
  const nearest =
    pools.find(({ colos }) => colo !== undefined && colos.includes(colo)) ??
    pools.find(({ continents }) => continent !== undefined && continents.includes(continent)) ??
    pools[0];
  return nearest ? [nearest, ...pools.filter((pool) => pool !== nearest)] : [];
}

/** The hosts of one pool in the order of trial: the less loaded of two that `random` picks, then its rival, then the others. */
export function orderHosts(hosts: readonly KnownHost[], random: () => number): KnownHost[] {
  const rest = [...hosts];
  const shuffled: KnownHost[] = [];
  while (rest.length > 0) shuffled.push(...rest.splice(Math.floor(random() * rest.length), 1));
  const [first, second, ...others] = shuffled;
  if (!first || !second) return shuffled;
  return second.load < first.load ? [second, first, ...others] : shuffled;
}

/** Knows the hosts of all pools and says in which order a run should try them. */
export class HostDirectory {
  readonly #pools: readonly SandboxPool[];
  readonly #hosts: ReadonlyMap<string, KnownHost>;
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(options: { pools: readonly SandboxPool[]; now: () => number; random: () => number }) {
    this.#pools = options.pools;
    this.#hosts = new Map(options.pools.flatMap(({ urls }) => urls.map((url) => [url, new KnownHost(url)] as const)));
    this.#now = options.now;
    this.#random = options.random;
  }

  /** The pools as configured, each with its hosts. */
  get pools(): (SandboxPool & { hosts: KnownHost[] })[] {
    return this.#pools.map((pool) => ({ ...pool, hosts: this.#hostsOf(pool) }));
  }

  /** Every host once. Those that are left out come last, so that they are asked only when nobody else is there. */
  candidates(location: Location): KnownHost[] {
    const now = this.#now();
    const ordered = orderPools(this.#pools, location).flatMap((pool) => orderHosts(this.#hostsOf(pool), this.#random));
    const all = [...new Set(ordered)];
    return [...all.filter((host) => !host.isLeftOut(now)), ...all.filter((host) => host.isLeftOut(now))];
  }

  #hostsOf({ urls }: SandboxPool): KnownHost[] {
    return urls.flatMap((url) => this.#hosts.get(url) ?? []);
  }
}
