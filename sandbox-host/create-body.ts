import type { RunLimits } from '../src/contract/runs.ts';
import { SUPERVISOR } from './supervisor.ts';

export const SANDBOX_LABEL = 'omniroute.sandbox';
export const RUN_LABEL = 'omniroute.run';
/** One life of a host: what carries another boot under the same host id was left behind. */
export const BOOT_LABEL = 'omniroute.boot';

export interface HostIdentity {
  hostId: string;
  bootId: string;
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
export function createBody({ id, image, command, env, limits }: ContainerSpec, { hostId, bootId }: HostIdentity) {
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
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 100,
      NanoCpus: nanoCpus(limits.cpuLimit),
      Memory: memory,
      MemorySwap: memory,
      // The owner matters: some versions of runc give a tmpfs the mode of the folder beneath it, and Docker makes the working folder as root.
      Tmpfs: {
        '/tmp': 'rw,noexec,nosuid,size=64m,mode=1777,uid=65534,gid=65534,nr_inodes=16k',
        '/workspace': 'rw,noexec,nosuid,size=64m,mode=700,uid=65534,gid=65534,nr_inodes=16k',
      },
      ReadonlyRootfs: limits.readOnly,
      ShmSize: 16 * MIB,
      OomScoreAdj: 500,
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
      ],
      /** A container that writes a lot would else fill the host's disk. */
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}
