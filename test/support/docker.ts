import { randomUUID } from 'node:crypto';
import type { Egress } from '../../sandbox-host/browser/egress.ts';
import { readHostConfig } from '../../sandbox-host/config.ts';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createHost, type SandboxHost } from '../../sandbox-host/create-host.ts';
import { createDockerEngine, type DockerEngine } from '../../sandbox-host/docker-engine.ts';
import type { RunConfig } from '../../sandbox-host/sandbox-runner.ts';
import { type RunLimits, type RunResult, runLimits } from '../../src/contract/runs.ts';

export const TEST_SECRET = 'a secret that only these tests share';

/** The socket of the Docker that tests use. */
export const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace('unix://', '');

export interface TestHost {
  host: SandboxHost;
  hostId: string;
  engine: DockerEngine;
  /** Runs a command on a run of its own. */
  run(image: string, command: string[], config?: TestRun): Promise<RunResult>;
  /** Ids of the containers of this host that exist. */
  containers(): Promise<string[]>;
}

export interface TestRun extends Partial<Omit<RunConfig, 'limits'>> {
  env?: Record<string, string>;
  limits?: Partial<RunLimits>;
}

export const newRunId = () => `test-${randomUUID()}`;

/** A sandbox-host in this process, on the real Docker, with an id of its own, that keeps no containers ready unless it is told to. */
export function createTestHost(variables: Record<string, string> = {}, egress?: Egress): TestHost {
  const hostId = `test-${randomUUID()}`;
  const config = readHostConfig({
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: hostId,
    DOCKER_HOST: `unix://${socketPath}`,
    SANDBOX_WARM_MAX: '0',
    ...variables,
  });
  const host = createHost(config, randomUUID(), () => undefined, egress);
  const engine = createDockerEngine(socketPath);
  return {
    host,
    hostId,
    engine,
    run: (image, command, { env = {}, limits, ...config } = {}) =>
      host.runner.run(image, command, env, {
        id: newRunId(),
        stdin: '',
        files: [],
        returnFiles: false,
        ...config,
        limits: runLimits.parse(limits ?? {}),
      }),
    containers: async () => (await engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`)).map(({ id }) => id),
  };
}
