import { HostError } from './host-error.ts';

const RETRY_AFTER_SECONDS = 1;

/** Bounds the bytes of all request bodies that are held at a time: their runs may wait for long, and each body may be large. */
export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the function that gives the bytes back, to be called once. Throws `queue_full` when there is no room for them. */
  take(bytes: number): () => void {
    if (this.#bytes + bytes > this.#maxBytes) {
      throw new HostError('queue_full', 'This sandbox host holds too many large requests, try again in 1 s', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }
}
