import { describe, expect, it } from 'vitest';
import { createBrowserBody } from '../../sandbox-host/browser/create-browser-body.ts';
import { SECCOMP_PROFILE } from '../../sandbox-host/seccomp-profile.ts';
import { runRequest } from '../../src/contract/runs.ts';

const request = runRequest.parse({
  id: 'run-1',
  image: 'omniroute-browser:1',
  command: ['browser'],
  env: { SECRET: 'x' },
  limits: { networkEnabled: true, readOnly: false, cpuLimit: 8_000, memoryLimit: 8_192 },
});

describe('createBrowserBody', () => {
  it('is as closed as that of a run, with room for a browser, whatever the request says', () => {
    expect(createBrowserBody(request, { hostId: 'host-1', bootId: 'boot-1' }, { cpuLimit: 1_500, memoryLimit: 1_024 })).toEqual({
      Image: 'omniroute-browser:1',
      Entrypoint: ['node'],
      Cmd: ['/opt/omniroute-browser/driver/main.ts'],
      Env: ['HOME=/tmp', 'TMPDIR=/tmp', 'XDG_CACHE_HOME=/tmp/.cache', 'XDG_CONFIG_HOME=/tmp/.config', 'LANG=C.UTF-8'],
      User: '65534:65534',
      WorkingDir: '/tmp',
      Hostname: 'browser',
      Labels: { 'omniroute.sandbox': 'host-1', 'omniroute.boot': 'boot-1', 'omniroute.run': 'run-1' },
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      OpenStdin: true,
      StdinOnce: true,
      Tty: false,
      NetworkDisabled: true,
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        AutoRemove: true,
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges', `seccomp=${JSON.stringify(SECCOMP_PROFILE)}`],
        PidsLimit: 512,
        NanoCpus: 1_500_000_000,
        Memory: 1_073_741_824,
        MemorySwap: 1_073_741_824,
        Tmpfs: { '/tmp': 'rw,noexec,nosuid,size=256m,mode=1777,uid=65534,gid=65534,nr_inodes=64k' },
        ReadonlyRootfs: true,
        ShmSize: 16_777_216,
        OomScoreAdj: 500,
        Ulimits: [
          { Name: 'core', Soft: 1, Hard: 1 },
          { Name: 'nofile', Soft: 4_096, Hard: 4_096 },
        ],
        LogConfig: { Type: 'none', Config: {} },
      },
    });
  });
});
