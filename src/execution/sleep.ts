export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after the time, or as soon as the signal fires. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
