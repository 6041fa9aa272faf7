import { describe, expect, it } from 'vitest';
import { createBody } from '../../sandbox-host/create-body.ts';
import { SECCOMP_PROFILE } from '../../sandbox-host/seccomp-profile.ts';
import { SUPERVISOR } from '../../sandbox-host/supervisor.ts';
import { runRequest } from '../../src/contract/runs.ts';

const identity = { hostId: 'host-1', bootId: 'boot-1' };
const bodyOf = (run: object) =>
  createBody(runRequest.parse({ id: 'run-1', image: 'alpine:3.20', command: ['echo', 'hi'], ...run }), identity);

describe('createBody', () => {
  it('is, for a run with nothing but defaults', () => {
    expect(bodyOf({})).toEqual({
      Image: 'alpine:3.20',
      Entrypoint: ['sh', '-c', SUPERVISOR, 'omniroute'],
      Cmd: ['echo', 'hi'],
      Env: [
        'HOME=/workspace',
        'TMPDIR=/tmp',
        'XDG_CACHE_HOME=/tmp/.cache',
        'LANG=C.UTF-8',
        'PYTHONDONTWRITEBYTECODE=1',
        'PYTHONUNBUFFERED=1',
        'NODE_OPTIONS=--max-old-space-size=160',
      ],
      User: '65534:65534',
      WorkingDir: '/workspace',
      Hostname: 'sandbox',
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
        PidsLimit: 100,
        NanoCpus: 100_000_000,
        Memory: 268_435_456,
        MemorySwap: 268_435_456,
        Tmpfs: {
          '/tmp': 'rw,noexec,nosuid,size=64m,mode=1777,uid=65534,gid=65534,nr_inodes=16k',
          '/workspace': 'rw,noexec,nosuid,size=64m,mode=700,uid=65534,gid=65534,nr_inodes=16k',
        },
        ReadonlyRootfs: true,
        ShmSize: 16_777_216,
        OomScoreAdj: 500,
        Ulimits: [
          { Name: 'core', Soft: 1, Hard: 1 },
          { Name: 'fsize', Soft: 68_157_440, Hard: 68_157_440 },
          { Name: 'nofile', Soft: 1024, Hard: 1024 },
        ],
        LogConfig: { Type: 'none', Config: {} },
      },
    });
  });

  it('follows the limits of the run', () => {
    const body = bodyOf({ limits: { cpuLimit: 1_500, memoryLimit: 512, networkEnabled: true, readOnly: false } });
    expect(body.NetworkDisabled).toBe(false);
    expect(body.HostConfig).toMatchObject({
      NetworkMode: 'bridge',
      NanoCpus: 1_500_000_000,
      Memory: 536_870_912,
      MemorySwap: 536_870_912,
      ReadonlyRootfs: false,
      Tmpfs: { '/var/tmp': 'rw,noexec,nosuid,size=64m,mode=1777,uid=65534,gid=65534,nr_inodes=16k' },
    });
    expect(body.Env).toContain('NODE_OPTIONS=--max-old-space-size=320');
  });

  it("names the host's runtime when it has one", () => {
    const request = runRequest.parse({ id: 'run-1', image: 'alpine:3.20', command: ['true'] });
    expect(createBody(request, { ...identity, runtime: 'runsc' }).HostConfig.Runtime).toBe('runsc');
    expect(createBody(request, identity).HostConfig).not.toHaveProperty('Runtime');
  });

  it("lets the run's own environment win", () => {
    const { Env } = bodyOf({ env: { HOME: '/tmp', MINE: 'a=b' } });
    expect(Env).toContain('HOME=/tmp');
    expect(Env).toContain('MINE=a=b');
    expect(Env).not.toContain('HOME=/workspace');
  });
});
