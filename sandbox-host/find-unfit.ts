import { BOOT_LABEL, type HostIdentity } from './create-body.ts';
import type { DockerEngine } from './docker-engine.ts';
import type { WarmContainer } from './warm-container.ts';
import type { WarmStock } from './warm-stock.ts';

/**
 * Containers that must not get a run: Docker does not have them running (one that was paused, say), or the name of their image stands for another image
 * by now. Asks Docker once for all of them and once for each image.
 */
export async function findUnfit(engine: DockerEngine, { bootId }: HostIdentity, stocks: readonly WarmStock[]): Promise<Set<WarmContainer>> {
  const waiting = stocks.flatMap(({ kind, containers }) => containers.map((container) => ({ container, image: kind.image })));
  if (waiting.length === 0) return new Set();
  const listed = await engine.listByLabel(`${BOOT_LABEL}=${bootId}`);
  const running = new Set(listed.filter(({ state }) => state === 'running').map(({ id }) => id));
  const imageIds = new Map<string, string | undefined>();
  for (const image of new Set(waiting.map((one) => one.image))) imageIds.set(image, (await engine.inspectImage(image))?.id);
  const unfit = waiting.filter(({ container, image }) => !running.has(container.containerId) || container.imageId !== imageIds.get(image));
  return new Set(unfit.map(({ container }) => container));
}
