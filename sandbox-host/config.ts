import { availableParallelism, totalmem } from 'node:os';
import { z } from 'zod';
import { allowedImages } from '../src/contract/images.ts';
import { flag, skillsEnvironment } from '../src/contract/limits.ts';
import type { WarmLimits } from './warm-stocks.ts';

export interface HostConfig {
  address: string;
  port: number;
  /** Marks this host's containers. Two hosts on one Docker daemon need two ids; the next life of a host needs the same one. */
  hostId: string;
  secret: string;
  socketPath: string;
  /** The OCI runtime of containers, as Docker knows it; undefined for Docker's default. */
  runtime: string | undefined;
  maxConcurrent: number;
  maxQueue: number;
  /** How long runs may go on once the host is told to stop. */
  drainMs: number;
  warm: WarmLimits;
  images: readonly string[];
  networkAllowed: boolean;
  maxOutputChars: number;
  maxFileBytes: number;
  /** Browsers: the image, undefined for none, how many at a time, and thousandths of a CPU and MiB of each. */
  browser: { image: string | undefined; maxConcurrent: number; maxQueue: number; cpuLimit: number; memoryLimit: number };
}

const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number')
    .transform(Number)
    .pipe(z.int().min(min, `Use at least ${min}`).max(max, `Use at most ${max}`));

const environment = skillsEnvironment.extend({
  SANDBOX_ADDRESS: z.union([z.ipv4(), z.ipv6()], 'Use an IP address to listen on').default('127.0.0.1'),
  SANDBOX_PORT: count(1, 65_535).default(8_890),
  SANDBOX_HOST_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'Use at most 63 letters, digits, ".", "_" and "-"')
    .optional(),
  SANDBOX_SECRET: z.string('Required: a secret that the gateway knows too').min(32, 'Use at least 32 characters'),
  DOCKER_HOST: z
    .string()
    .regex(/^unix:\/\/\/.+/, 'Use a Unix socket, such as unix:///var/run/docker.sock')
    .default('unix:///var/run/docker.sock'),
  SANDBOX_RUNTIME: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'Use a name of Docker’s runtimes, such as runsc')
    .optional(),
  SANDBOX_MAX_CONCURRENT: count(1, 1_000).optional(),
  SANDBOX_MAX_QUEUE: count(0, 10_000).default(32),
  SANDBOX_DRAIN_SECONDS: count(0, 3_600).default(5),
  SANDBOX_WARM_MIN: count(0, 100).default(1),
  SANDBOX_WARM_MAX: count(0, 1_000).optional(),
  SANDBOX_WARM_MAX_AGE_SECONDS: count(1, 86_400).default(600),
  SANDBOX_WARM_NETWORK: flag.default(false),
  BROWSER_IMAGE: z.string().min(1).max(255).optional(),
  BROWSER_MAX_CONCURRENT: count(1, 1_000).optional(),
  BROWSER_CPU_LIMIT: count(100, 8_000).default(1_000),
  BROWSER_MEMORY_LIMIT: count(256, 8_192).default(1_024),
});

/** Every variable that a sandbox-host reads. */
export const HOST_VARIABLES = Object.keys(environment.shape) as readonly string[];

/** Ten runs a core at 0.1 CPU each, as far as their default of 256 MiB fits into half of the memory. */
const defaultConcurrency = () => Math.max(1, Math.min(10 * availableParallelism(), Math.floor(totalmem() / 2 / 268_435_456)));

/** A browser for each CPU, as far as they fit into a quarter of the memory. */
const defaultBrowsers = (memoryMb: number) =>
  Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / 4 / (memoryMb * 1_048_576))));

/** Eight a core, which two seconds of as many runs as a core can start use up; each takes some 10 MiB while it waits. */
const defaultWarm = () => Math.max(1, Math.min(8 * availableParallelism(), Math.floor(totalmem() / 16 / 16_777_216)));

/** Reads the environment; an empty variable counts as not set. Throws an Error with one line per bad variable, never its value. */
export function readHostConfig(variables: Record<string, string | undefined>): HostConfig {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
  const env = parsed.data;
  return {
    address: env.SANDBOX_ADDRESS,
    port: env.SANDBOX_PORT,
    hostId: env.SANDBOX_HOST_ID ?? `port-${env.SANDBOX_PORT}`,
    secret: env.SANDBOX_SECRET,
    socketPath: env.DOCKER_HOST.slice('unix://'.length),
    runtime: env.SANDBOX_RUNTIME,
    maxConcurrent: env.SANDBOX_MAX_CONCURRENT ?? defaultConcurrency(),
    maxQueue: env.SANDBOX_MAX_QUEUE,
    drainMs: env.SANDBOX_DRAIN_SECONDS * 1_000,
    warm: {
      minWarm: env.SANDBOX_WARM_MIN,
      maxWarm: env.SANDBOX_WARM_MAX ?? defaultWarm(),
      maxWarmAgeMs: env.SANDBOX_WARM_MAX_AGE_SECONDS * 1_000,
      isNetworkWarm: env.SANDBOX_WARM_NETWORK,
    },
    images: allowedImages(env.SKILLS_ALLOWED_SANDBOX_IMAGES),
    networkAllowed: env.SKILLS_SANDBOX_NETWORK_ENABLED,
    maxOutputChars: env.SKILLS_MAX_SANDBOX_OUTPUT_CHARS,
    maxFileBytes: env.SKILLS_MAX_FILE_BYTES,
    browser: {
      image: env.BROWSER_IMAGE,
      maxConcurrent: env.BROWSER_MAX_CONCURRENT ?? defaultBrowsers(env.BROWSER_MEMORY_LIMIT),
      maxQueue: env.SANDBOX_MAX_QUEUE,
      cpuLimit: Math.min(env.BROWSER_CPU_LIMIT, availableParallelism() * 1_000),
      memoryLimit: env.BROWSER_MEMORY_LIMIT,
    },
  };
}
