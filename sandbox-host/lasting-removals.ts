import { BOOT_LABEL, RUN_LABEL } from './create-body.ts';
import { type DockerEngine, DockerError } from './docker-engine.ts';
import type { Logger } from './logger.ts';
import { containerName } from './start-container.ts';

export interface LastingEngine extends DockerEngine {
  /** Whether containers of this life may be left that Docker could not be made to remove so far. */
  readonly owesRemovals: boolean;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** How often containers are looked for after a creation that failed without a clear answer: one that was under way shows up late. */
const SEARCHES = 10;

/**
 * An engine that forgets no container of this life while Docker is away, stalls or has no space: what could not be removed, and what may have been created
 * without an answer, is removed once Docker answers again. Calls fail as they do without it.
 */
export function withLastingRemovals(engine: DockerEngine, bootId: string, log: Logger): LastingEngine {
  /** Ids that Docker gave out; any other container of this life is held by nobody. */
  const known = new Set<string>();
  const owed = new Set<string>();
  /** Names under creation: such a container may be listed before its answer is here. */
  const creating = new Set<string>();
  let searches = 0;
  let retryMs = FIRST_RETRY_MS;
  let timer: NodeJS.Timeout | undefined;

  const owesRemovals = () => owed.size > 0 || searches > 0;

  function forget(containerId: string): void {
    known.delete(containerId);
    owed.delete(containerId);
  }

  function retryLater(): void {
    if (timer || !owesRemovals()) return;
    timer = setTimeout(() => {
      void payBack().then(() => {
        timer = undefined;
        retryLater();
      });
    }, retryMs).unref();
  }

  async function payBack(): Promise<void> {
    try {
      if (searches > 0) {
        for (const { id, labels } of await engine.listByLabel(`${BOOT_LABEL}=${bootId}`)) {
          if (!known.has(id) && !creating.has(containerName(labels[RUN_LABEL] ?? ''))) owed.add(id);
        }
        searches -= 1;
      }
      const removals = [...owed].map((containerId) => engine.remove(containerId).then(() => forget(containerId)));
      await Promise.allSettled(removals);
      await Promise.all(removals);
      retryMs = FIRST_RETRY_MS;
      if (removals.length > 0) log('warn', 'sandbox.containers.removed_late', { removed: removals.length });
    } catch (error) {
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      log('warn', 'sandbox.containers.left', { owed: owed.size, reason: error instanceof Error ? error.message : 'unknown' });
    }
  }

  return {
    ...engine,
    get owesRemovals() {
      return owesRemovals();
    },
    async createContainer(name, body) {
      creating.add(name);
      try {
        const containerId = await engine.createContainer(name, body);
        known.add(containerId);
        return containerId;
      } catch (error) {
        if (!(error instanceof DockerError) || error.status >= 500) searches = SEARCHES;
        throw error;
      } finally {
        creating.delete(name);
        retryLater();
      }
    },
    async waitRemoved(containerId) {
      const exitCode = await engine.waitRemoved(containerId);
      forget(containerId);
      return exitCode;
    },
    async remove(containerId) {
      try {
        await engine.remove(containerId);
        forget(containerId);
      } catch (error) {
        owed.add(containerId);
        retryLater();
        throw error;
      }
    },
  };
}
