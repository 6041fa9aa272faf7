import { HranaError } from './protocol.ts';

export interface WriteLock {
  /**
   * Resolves when `owner` holds the lock, at once when it does already. Waiters are served in the order they came.
   * Rejects with `SQLITE_BUSY` after `timeoutMs`, and when the signal aborts.
   */
  acquire(owner: object, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
  /** Does nothing when `owner` does not hold the lock. */
  release(owner: object): void;
}

/**
 * Orders the writers of one database file. SQLite's own waiting would block the thread that the lock's holder needs to finish,
 * and a prepared statement that met a locked database stays active in the native package, which spoils its connection.
 */
export function createWriteLock(): WriteLock {
  let holder: object | undefined;
  const waiting: { owner: object; grant: () => void }[] = [];

  return {
    acquire(owner, { timeoutMs, signal }) {
      if (holder === owner) return Promise.resolve();
      if (holder === undefined) {
        holder = owner;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
        };
        const entry = {
          owner,
          grant: () => {
            leave();
            resolve();
          },
        };
        const giveUp = (): void => {
          leave();
          waiting.splice(waiting.indexOf(entry), 1);
          reject(new HranaError('SQLITE_BUSY', 'database is locked'));
        };
        const timer = setTimeout(giveUp, timeoutMs);
        signal.addEventListener('abort', giveUp);
        waiting.push(entry);
      });
    },
    release(owner) {
      if (holder !== owner) return;
      const next = waiting.shift();
      holder = next?.owner;
      next?.grant();
    },
  };
}
