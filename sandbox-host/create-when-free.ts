import { setTimeout as sleep } from 'node:timers/promises';
import { type DockerEngine, DockerError } from './docker-engine.ts';

/** How long an earlier container of the same run may take to go. */
const PATIENCE_MS = 5_000;
const INTERVAL_MS = 100;
const NAME_IN_USE = 409;

/**
 * Creates a container, for which another one of this name has to be gone: a run that comes from a host that died finds its container
 * there when both hosts share a Docker, until the reaper has removed it.
 */
export async function createWhenFree(engine: Pick<DockerEngine, 'createContainer'>, name: string, body: object): Promise<string> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await engine.createContainer(name, body);
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== NAME_IN_USE || Date.now() >= deadline) throw error;
      await sleep(INTERVAL_MS);
    }
  }
}
