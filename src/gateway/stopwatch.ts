/** Sums the time that parts of a request take, for the `server-timing` header (https://www.w3.org/TR/server-timing/). */
export interface Stopwatch {
  time<Result>(part: string, work: () => Promise<Result>): Promise<Result>;
  /** The header's value; times are milliseconds. */
  header(): string;
}

export function createStopwatch(now: () => number): Stopwatch {
  const spent = new Map<string, number>();
  return {
    async time(part, work) {
      const start = now();
      try {
        return await work();
      } finally {
        spent.set(part, (spent.get(part) ?? 0) + now() - start);
      }
    },
    header: () => [...spent].map(([part, ms]) => `${part};dur=${ms}`).join(', '),
  };
}
