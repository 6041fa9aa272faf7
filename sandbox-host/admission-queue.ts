import { HostError } from './host-error.ts';

interface Waiting {
  admit(): void;
  refuse(error: HostError): void;
}

const MAX_RETRY_AFTER_SECONDS = 60;

/** Lets a number of runs in at a time and has a bounded number wait, first come, first served. */
export class AdmissionQueue {
  readonly maxConcurrent: number;
  readonly #maxQueue: number;
  readonly #waiting = new Set<Waiting>();
  #admitted = 0;
  #closed = false;
  /** Moving average of how long a place is held; starts at a guess. */
  #averageMs = 1_000;

  constructor(limits: { maxConcurrent: number; maxQueue: number }) {
    this.maxConcurrent = limits.maxConcurrent;
    this.#maxQueue = limits.maxQueue;
  }

  get admitted(): number {
    return this.#admitted;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether nobody is let in any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Resolves with the function that gives the place back, to be called once. Rejects with `queue_full` or `draining`, and with the signal's reason when it
   * fires before a place is free.
   */
  acquire(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.reject(draining());
    if (this.#admitted < this.maxConcurrent) return Promise.resolve(this.#admit());
    if (this.#waiting.size >= this.#maxQueue) {
      const retryAfterSeconds = this.#retryAfterSeconds();
      return Promise.reject(
        new HostError('queue_full', `This sandbox host is full, try again in ${retryAfterSeconds} s`, { retryAfterSeconds }),
      );
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        leave();
        reject(signal.reason);
      };
      const waiting: Waiting = {
        admit: () => {
          leave();
          resolve(this.#admit());
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', onAbort);
    });
  }

  /** Lets nobody in any more; who waits is refused. */
  close(): void {
    this.#closed = true;
    for (const waiting of [...this.#waiting]) waiting.refuse(draining());
  }

  #admit(): () => void {
    this.#admitted += 1;
    const admittedAt = Date.now();
    return () => {
      this.#admitted -= 1;
      this.#averageMs += (Date.now() - admittedAt - this.#averageMs) / 8;
      const [next] = this.#waiting;
      next?.admit();
    };
  }

  #retryAfterSeconds(): number {
    const seconds = Math.ceil((this.#averageMs * (this.#waiting.size + 1)) / this.maxConcurrent / 1_000);
    return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
  }
}

const draining = () => new HostError('draining', 'This sandbox host is shutting down');
