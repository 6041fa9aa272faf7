import type { RunRequest } from '../../src/contract/runs.ts';
import { createBody, type HostIdentity } from '../create-body.ts';

export interface BrowserLimits {
  /** Thousandths of a CPU. */
  cpuLimit: number;
  /** MiB. */
  memoryLimit: number;
}

/** A browser is a few processes of many threads each. */
const MAX_THREADS = 512;
const DRIVER = ['node', '/opt/omniroute-browser/driver/main.ts'];
const HOME = '/tmp';

/**
 * The body of Docker's `POST /containers/create` for a browser: that of a run without network, with the driver in place of a program and with more of
 * CPU, memory, threads and `/tmp`, where profile and cache are.
 */
export function createBrowserBody(request: RunRequest, identity: HostIdentity, { cpuLimit, memoryLimit }: BrowserLimits) {
  const limits = { ...request.limits, cpuLimit, memoryLimit, networkEnabled: false, readOnly: true };
  const { HostConfig, ...body } = createBody({ ...request, command: DRIVER, env: {}, limits }, identity);
  return {
    ...body,
    Entrypoint: DRIVER.slice(0, 1),
    Cmd: DRIVER.slice(1),
    Env: [`HOME=${HOME}`, `TMPDIR=${HOME}`, `XDG_CACHE_HOME=${HOME}/.cache`, `XDG_CONFIG_HOME=${HOME}/.config`, 'LANG=C.UTF-8'],
    WorkingDir: HOME,
    Hostname: 'browser',
    HostConfig: {
      ...HostConfig,
      PidsLimit: MAX_THREADS,
      Tmpfs: { '/tmp': `rw,noexec,nosuid,size=${Math.floor(memoryLimit / 4)}m,mode=1777,uid=65534,gid=65534,nr_inodes=64k` },
      Ulimits: [
        { Name: 'core', Soft: 1, Hard: 1 },
        { Name: 'nofile', Soft: 4_096, Hard: 4_096 },
      ],
    },
  };
}
