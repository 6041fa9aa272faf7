import { BROWSER_DISABLED } from '../../src/contract/browser-runs.ts';
import type { RunRequest } from '../../src/contract/runs.ts';
import type { HostIdentity } from '../create-body.ts';
import type { DockerEngine } from '../docker-engine.ts';
import { HostError } from '../host-error.ts';
import { type FreshContainer, startContainer } from '../start-container.ts';
import { type BrowserLimits, createBrowserBody } from './create-browser-body.ts';

/** A container in which a browser's driver starts, for one run. */
export interface BrowserContainer extends Pick<FreshContainer, 'containerId' | 'stream' | 'removed'> {
  readonly warm: boolean;
}

const REASONS = {
  image_missing: 'is not installed there; the README says how to build it',
  image_unusable: 'has no browser for it',
};

/** Creates and starts a container for each browser. An image that is not there, or another one, is as good as none. */
export function createBrowserSource(engine: DockerEngine, identity: HostIdentity, limits: BrowserLimits) {
  return {
    async take(request: RunRequest): Promise<BrowserContainer> {
      const body = createBrowserBody(request, identity, limits);
      const prepare = ({ containerId, stream, removed }: FreshContainer) => ({ containerId, stream, removed, warm: false });
      try {
        return await startContainer(engine, identity, request, prepare, body);
      } catch (error) {
        if (!(error instanceof HostError) || (error.code !== 'image_missing' && error.code !== 'image_unusable')) throw error;
        const why = `The image ${request.image}, BROWSER_IMAGE of the sandbox-host, ${REASONS[error.code]}.`;
        throw new HostError('browser_disabled', `${BROWSER_DISABLED} ${why}`, { cause: error });
      }
    },
  };
}
