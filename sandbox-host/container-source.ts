import { randomBytes } from 'node:crypto';
import type { RunRequest } from '../src/contract/runs.ts';
import type { HostIdentity } from './create-body.ts';
import type { DockerEngine } from './docker-engine.ts';
import { type FreshContainer, startContainer } from './start-container.ts';
import { supervisorOrders } from './supervisor.ts';

/** A container for one run, never used again. */
export interface StartedContainer extends Pick<FreshContainer, 'containerId' | 'stream' | 'removed'> {
  /** Marks the supervisor's own words in the output. */
  readonly nonce: string;
  /** Whether it was ready before the request came. */
  readonly warm: boolean;
  /** What of the output has been read already. */
  readonly head: Buffer;
  /** What has to be written, and then the end, so that the program of this run starts. */
  readonly input: Buffer;
}

/** Where containers come from. */
export interface ContainerSource {
  /** Rejects with a HostError, after which no container is left and no program has started. */
  take(request: RunRequest): Promise<StartedContainer>;
}

export const newNonce = (): string => randomBytes(16).toString('hex');

/** Creates and starts a container for each run. */
export function createColdSource(engine: DockerEngine, identity: HostIdentity): ContainerSource {
  return {
    take: (request) =>
      startContainer(engine, identity, request, ({ containerId, stream, removed }) => {
        const nonce = newNonce();
        const input = Buffer.concat([supervisorOrders(nonce, request), Buffer.from(request.stdin)]);
        return { containerId, stream, removed, nonce, warm: false, head: Buffer.alloc(0), input };
      }),
  };
}
