import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { RunRequest } from '../src/contract/runs.ts';
import { createBody, type HostIdentity } from './create-body.ts';
import { type DockerEngine, DockerError } from './docker-engine.ts';
import { HostError } from './host-error.ts';
import { supervisorInput } from './supervisor.ts';

/** A container whose supervisor waits for its input, with its streams attached. Used for one run, never again. */
export interface StartedContainer {
  readonly containerId: string;
  /** Marks the supervisor's own words in the output. */
  readonly nonce: string;
  /** Whether it was started before the request came. */
  readonly warm: boolean;
  /** Reads as frames of the Docker Engine, writes to the supervisor. */
  readonly stream: Duplex;
  /** What the supervisor has to read, so that the program of this run starts. */
  readonly input: Buffer;
  /** Resolves with the exit status of the first process once the container is removed. */
  readonly removed: Promise<number>;
}

/** Where containers come from. */
export interface ContainerSource {
  /** Rejects with a HostError, after which no container is left and no program has started. */
  take(request: RunRequest): Promise<StartedContainer>;
}

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
  return new HostError('docker_unavailable', 'Docker could not start a container', { cause: error });
}

const imageMissing = (image: string, cause?: unknown) =>
  new HostError('image_missing', `Sandbox image is not installed on this host: ${image}`, { cause });

/** Creates and starts a container for each run. Never pulls an image. */
export function createColdSource(engine: DockerEngine, identity: HostIdentity): ContainerSource {
  async function checkImage(image: string): Promise<void> {
    const inspected = await engine.inspectImage(image);
    if (!inspected) throw imageMissing(image);
    // A volume of the image would be writable, and on the host's disk.
    if (inspected.volumes.length > 0) throw new HostError('image_unusable', `Sandbox image declares volumes: ${image}`);
  }

  return {
    async take(request) {
      let containerId: string | undefined;
      let stream: Duplex | undefined;
      try {
        await checkImage(request.image);
        containerId = await engine.createContainer(`omniroute-${request.id}`, createBody(request, identity));
        const removed = engine.waitRemoved(containerId);
        removed.catch(() => undefined);
        stream = await engine.attach(containerId);
        stream.on('error', () => undefined);
        await engine.start(containerId);
        const nonce = randomBytes(16).toString('hex');
        return { containerId, nonce, warm: false, stream, input: supervisorInput(nonce, request), removed };
      } catch (error) {
        stream?.destroy();
        if (containerId !== undefined) await engine.remove(containerId).catch(() => undefined);
        throw toHostError(error, request.image);
      }
    },
  };
}
