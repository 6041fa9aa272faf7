import type { Duplex } from 'node:stream';
import { checkCommandSize } from './check-command-size.ts';
import { type ContainerSpec, createBody, type HostIdentity } from './create-body.ts';
import { createWhenFree } from './create-when-free.ts';
import { type DockerEngine, DockerError } from './docker-engine.ts';
import { HostError } from './host-error.ts';

/** A container whose supervisor waits for its orders, with its streams attached. */
export interface FreshContainer {
  readonly containerId: string;
  /** What the image's name stood for. */
  readonly imageId: string;
  /** Reads as frames of the Docker Engine, writes to the supervisor. */
  readonly stream: Duplex;
  /** Resolves with the exit status of the first process once the container is removed. */
  readonly removed: Promise<number>;
}

/** The name of a run's container, which no other one can have at the same time. */
export const containerName = (runId: string): string => `omniroute-${runId}`;

const imageMissing = (image: string, cause?: unknown) =>
  new HostError('image_missing', `Sandbox image is not installed on this host: ${image}`, { cause });

/** What the caller of a run reads when Docker refused to make a container of the image. */
function toHostError(error: unknown, image: string): HostError {
  if (error instanceof HostError) return error;
  if (!(error instanceof DockerError)) return new HostError('docker_unavailable', 'Docker does not answer', { cause: error });
  if (error.status === 404 && /no such image/i.test(error.message)) return imageMissing(image, error);
  if (error.status === 409) return new HostError('id_in_use', 'A container of this run exists already', { cause: error });
  if (/executable file not found|no such file or directory/i.test(error.message)) {
    return new HostError('image_unusable', `Sandbox image has no shell to start programs with: ${image}`, { cause: error });
  }
  if (/argument list too long/i.test(error.message)) {
    return new HostError('invalid_request', 'Command and environment are too long together', { cause: error });
  }
  if (/no space left on device/i.test(error.message)) {
    return new HostError('docker_unavailable', 'Docker has no space left on its disk', { cause: error });
  }
  return new HostError('docker_unavailable', 'Docker could not start a container', { cause: error });
}

async function checkImage(engine: DockerEngine, image: string): Promise<string> {
  const inspected = await engine.inspectImage(image);
  if (!inspected) throw imageMissing(image);
  // A volume of the image would be writable, and on the host's disk.
  if (inspected.volumes.length > 0) throw new HostError('image_unusable', `Sandbox image declares volumes: ${image}`);
  return inspected.id;
}

/**
 * Creates and starts a container of this body, and has `prepare` do what else it needs. Never pulls an image. Rejects with a HostError, after which no container
 * is left.
 */
export async function startContainer<T>(
  engine: DockerEngine,
  identity: HostIdentity,
  spec: ContainerSpec,
  prepare: (container: FreshContainer) => T | Promise<T>,
  body: object = createBody(spec, identity),
): Promise<T> {
  let containerId: string | undefined;
  let stream: Duplex | undefined;
  try {
    checkCommandSize(spec);
    const imageId = await checkImage(engine, spec.image);
    containerId = await createWhenFree(engine, containerName(spec.id), body);
    const removed = engine.waitRemoved(containerId);
    removed.catch(() => undefined);
    stream = await engine.attach(containerId);
    stream.on('error', () => undefined);
    await engine.start(containerId);
    return await prepare({ containerId, imageId, stream, removed });
  } catch (error) {
    stream?.destroy();
    if (containerId !== undefined) await engine.remove(containerId).catch(() => undefined);
    throw toHostError(error, spec.image);
  }
}
