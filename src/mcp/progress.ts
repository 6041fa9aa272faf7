const PROGRESS_MS = 1_000;

/** Tells a client that its call goes on. */
export interface Progress {
  /** Does the work; every second until its end the client is sent how many seconds its call has taken, and the message. */
  during<Result>(message: string, work: () => Promise<Result>): Promise<Result>;
}

/** Progress for a client that gave a token to be told by; without a `send` nothing is told. */
export function createProgress(send: ((seconds: number, message: string) => void) | undefined): Progress {
  let seconds = 0;
  return {
    async during(message, work) {
      const timer = send && setInterval(() => send(++seconds, message), PROGRESS_MS);
      try {
        return await work();
      } finally {
        clearInterval(timer);
      }
    },
  };
}
