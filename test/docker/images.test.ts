import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestHost, socketPath } from '../support/docker.ts';

const { host, run, containers } = createTestHost();
const DOCKER = `/usr/bin/docker -H unix://${socketPath}`;
const shell = (script: string) => promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script]);

const BARE = 'omniroute-test-bare:1';
const SHELL_LESS = 'omniroute-test-shell-less:1';
const WITH_VOLUME = 'omniroute-test-with-volume:1';
const WITH_ENTRYPOINT = 'omniroute-test-with-entrypoint:1';

beforeAll(async () => {
  await shell(`
    container=$(${DOCKER} create alpine:3.20 true)
    ${DOCKER} export $container | tar --delete workspace | ${DOCKER} import - ${BARE}
    ${DOCKER} rm $container
    tar -c -C / --files-from /dev/null | ${DOCKER} import - ${SHELL_LESS}
    change() { printf 'FROM alpine:3.20\\n%s\\n' "$2" | ${DOCKER} build -q -t "$1" -; }
    change ${WITH_VOLUME} 'VOLUME /data'
    change ${WITH_ENTRYPOINT} 'ENTRYPOINT ["/bin/false"]
      ENV FROM_IMAGE=yes
      USER 0
      WORKDIR /root
      HEALTHCHECK CMD true'`);
});
afterAll(async () => {
  await host.drain(0);
  await shell(`${DOCKER} rmi ${BARE} ${SHELL_LESS} ${WITH_VOLUME} ${WITH_ENTRYPOINT}`);
});

describe('an image', () => {
  it('needs no /workspace of its own', async () => {
    const files = [{ path: 'a', contentBase64: 'eA==' }];
    const result = await run(BARE, ['sh', '-c', 'pwd; cat a; echo y > b && echo z > /tmp/c && cat /tmp/c'], { files, returnFiles: true });
    expect(result).toMatchObject({ exitCode: 0, stdout: '/workspace\nxz\n', files: [{ path: 'b', contentBase64: 'eQo=' }] });
  });

  it('is refused when it has no shell', async () => {
    await expect(run(SHELL_LESS, ['true'])).rejects.toMatchObject({
      code: 'image_unusable',
      message: `Sandbox image has no shell to start programs with: ${SHELL_LESS}`,
    });
    expect(await containers()).toEqual([]);
  });

  it('is refused when it declares volumes, which would be writable and on the disk', async () => {
    await expect(run(WITH_VOLUME, ['true'])).rejects.toMatchObject({
      code: 'image_unusable',
      message: `Sandbox image declares volumes: ${WITH_VOLUME}`,
    });
  });

  it('does not decide how programs start', async () => {
    const result = await run(WITH_ENTRYPOINT, ['sh', '-c', 'id -u; pwd; echo $FROM_IMAGE']);
    expect(result).toMatchObject({ exitCode: 0, stdout: '65534\n/workspace\nyes\n' });
  });
});
