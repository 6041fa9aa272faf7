import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { createTestHost, newRunId, socketPath, TEST_SECRET } from '../support/docker.ts';
import { startSandboxProcess } from '../support/sandbox-process.ts';

/** What every Docker has besides its default. */
const OTHER_RUNTIME = 'io.containerd.runc.v2';

describe('SANDBOX_RUNTIME', () => {
  it('is the runtime of containers', async () => {
    const { host, run } = createTestHost({ SANDBOX_RUNTIME: OTHER_RUNTIME });
    await host.checkRuntime();
    const id = newRunId();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const running = run('alpine:3.20', ['sh', '-c', 'read line; echo "$line"; sleep 60'], { id, stdin: 'hi\n', onStart: resolve });
    await started;
    const format = '{{.HostConfig.Runtime}}';
    const { stdout } = await promisify(execFile)('/usr/bin/docker', [
      '-H',
      `unix://${socketPath}`,
      'inspect',
      '-f',
      format,
      `omniroute-${id}`,
    ]);
    expect(stdout.trim()).toBe(OTHER_RUNTIME);
    host.runner.kill(id);
    expect(await running).toMatchObject({ killed: true });
    await host.drain(0);
  });

  it('keeps a host from starting whose Docker does not have it', async () => {
    const runtimes = (await createDockerEngine(socketPath).listRuntimes()).toSorted();
    expect(runtimes).toContain('runc');
    const host = await startSandboxProcess({
      SANDBOX_SECRET: TEST_SECRET,
      SANDBOX_HOST_ID: `test-${randomUUID()}`,
      DOCKER_HOST: `unix://${socketPath}`,
      SANDBOX_RUNTIME: 'no-such-runtime',
    });
    expect(await host.exited).toBe(1);
    expect(host.lines.at(-1)).toBe(`SANDBOX_RUNTIME: Docker has no runtime no-such-runtime; it has ${runtimes.join(', ')}`);
  });
});
