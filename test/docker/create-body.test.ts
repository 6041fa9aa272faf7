import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createBody } from '../../sandbox-host/create-body.ts';
import { runRequest } from '../../src/contract/runs.ts';
import { createTestHost, newRunId, socketPath } from '../support/docker.ts';

const { host, hostId, run } = createTestHost();
afterAll(() => host.drain(0));

const DOCKER = '/usr/bin/docker';
const inspect = async (name: string) => {
  const { stdout } = await promisify(execFile)(DOCKER, ['-H', `unix://${socketPath}`, 'inspect', name]);
  return JSON.parse(stdout)[0];
};

describe('a running container', () => {
  it('is as the create body says', async () => {
    const id = newRunId();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const running = run('alpine:3.20', ['sleep', '60'], { id, env: { A: 'b' }, onStart: resolve });
    await started;
    const container = await inspect(`omniroute-${id}`);
    host.runner.kill(id);
    await running;

    const request = runRequest.parse({ id, image: 'alpine:3.20', command: ['sleep', '60'], env: { A: 'b' } });
    const { HostConfig, NetworkDisabled, Healthcheck, Env, ...config } = createBody(request, {
      hostId,
      bootId: container.Config.Labels['omniroute.boot'],
    });
    expect(container.HostConfig).toMatchObject(HostConfig);
    expect(container.Config).toMatchObject(config);
    expect(container.Config.Env).toEqual(expect.arrayContaining(Env));
    expect(container.Name).toBe(`/omniroute-${id}`);
    expect(container.HostConfig).toMatchObject({ Privileged: false, Binds: null, PublishAllPorts: false, UsernsMode: '' });
    expect(container.Mounts).toEqual([]);
    expect(Object.keys(container.NetworkSettings.Networks)).toEqual([]);
  });
});
