import { BOOT_LABEL, type HostIdentity, SANDBOX_LABEL } from './create-body.ts';
import type { ContainerSummary, DockerEngine } from './docker-engine.ts';

async function removeAll(engine: DockerEngine, containers: readonly ContainerSummary[]): Promise<number> {
  await Promise.all(containers.map(({ id }) => engine.remove(id)));
  return containers.length;
}

/** Removes the containers that an earlier life of this host left, and resolves with their number. */
export async function removeLeftovers(engine: DockerEngine, { hostId, bootId }: HostIdentity): Promise<number> {
  const own = await engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`);
  return removeAll(
    engine,
    own.filter(({ labels }) => labels[BOOT_LABEL] !== bootId),
  );
}

/** Removes the containers of one life of a host. */
export const removeBoot = async (engine: DockerEngine, bootId: string): Promise<number> =>
  removeAll(engine, await engine.listByLabel(`${BOOT_LABEL}=${bootId}`));
