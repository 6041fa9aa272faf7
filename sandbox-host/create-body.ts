import type { RunLimits } from '../src/contract/runs.ts';
import { SECCOMP_PROFILE } from './seccomp-profile.ts';
import { SUPERVISOR } from './supervisor.ts';

export const SANDBOX_LABEL = 'omniroute.sandbox';
export const RUN_LABEL = 'omniroute.run';
/** One life of a host: what carries another boot under the same host id was left behind. */
export const BOOT_LABEL = 'omniroute.boot';

export interface HostIdentity {
  hostId: string;
  bootId: string;
  /** The OCI runtime of its containers, such as gVisor's `runsc`; undefined for Docker's default. */
  runtime?: string;
}

/** What of a run decides about its container. */
export interface ContainerSpec {
  id: string;
  image: string;
  /** The program and its arguments; none when they come over stdin. */
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  limits: Pick<RunLimits, 'cpuLimit' | 'memoryLimit' | 'networkEnabled' | 'readOnly'>;
}

const MIB = 1_048_576;
const TMPFS_MB = 64;
const SECCOMP_OPTION = `seccomp=${JSON.stringify(SECCOMP_PROFILE)}`;
/** The owner matters: some versions of runc give a tmpfs the mode of the folder beneath it, and Docker makes the working folder as root. */
const tmpfs = (mode: string) => `rw,noexec,nosuid,size=${TMPFS_MB}m,mode=${mode},uid=65534,gid=65534,nr_inodes=16k`;

/** Docker's measure of a CPU limit in thousandths of a CPU. */
export const nanoCpus = (cpuLimit: number): number => cpuLimit * 1_000_000;

/** What programs need to live under a read-only root; V8 gets a heap that leaves room in the container's memory, so that it says what is wrong. */
const baseEnvironment = (memoryMb: number): Record<string, string> => ({
  HOME: '/workspace',
  TMPDIR: '/tmp',
  XDG_CACHE_HOME: '/tmp/.cache',
  LANG: 'C.UTF-8',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '1',
  NODE_OPTIONS: `--max-old-space-size=${Math.floor(memoryMb * 0.625)}`,
});

/**
 * The body of Docker's `POST /containers/create` for one run: `docker run --rm --network none|bridge --cap-drop ALL
 * --security-opt no-new-privileges --pids-limit 100 --cpus … --memory …m --tmpfs /tmp:… --tmpfs /workspace:… --read-only` and more of the same.
 * Nothing of the host's environment goes in.
 */
export function createBody({ id, image, command, env, limits }: ContainerSpec, { hostId, bootId, runtime }: HostIdentity) {
  const memory = limits.memoryLimit * MIB;
  return {
    Image: image,
    Entrypoint: ['sh', '-c', SUPERVISOR, 'omniroute'],
    Cmd: command,
    Env: Object.entries({ ...baseEnvironment(limits.memoryLimit), ...env }).map(([name, value]) => `${name}=${value}`),
    User: '65534:65534',
    WorkingDir: '/workspace',
    Hostname: 'sandbox',
    Labels: { [SANDBOX_LABEL]: hostId, [BOOT_LABEL]: bootId, [RUN_LABEL]: id },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    /** Spares Docker's network hook, some 100 ms; the container still gets a network namespace of its own with nothing but `lo`. */
    NetworkDisabled: !limits.networkEnabled,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: limits.networkEnabled ? 'bridge' : 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', SECCOMP_OPTION],
      ...(runtime !== undefined && { Runtime: runtime }),
      PidsLimit: 100,
      NanoCpus: nanoCpus(limits.cpuLimit),
      Memory: memory,
      MemorySwap: memory,
      Tmpfs: {
        '/tmp': tmpfs('1777'),
        '/workspace': tmpfs('700'),
        // Open to everybody in most images: without this it would be a way to fill the host's disk.
        ...(!limits.readOnly && { '/var/tmp': tmpfs('1777') }),
      },
      ReadonlyRootfs: limits.readOnly,
      ShmSize: 16 * MIB,
      OomScoreAdj: 500,
      Ulimits: [
        // 1 and not 0, which would not keep the kernel from starting a host's crash handler, as root and outside of the container. See core(5).
        { Name: 'core', Soft: 1, Hard: 1 },
        // More than fits into a tmpfs, so that a program that fills one reads that; one that makes a sparse file larger than this is ended by SIGXFSZ.
        { Name: 'fsize', Soft: (TMPFS_MB + 1) * MIB, Hard: (TMPFS_MB + 1) * MIB },
        { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
      ],
      /** A container that writes a lot would else fill the host's disk. */
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}
