import type * as z from 'zod';
import { type HostHealth, hostHealth, hostReadiness } from '../contract/host-state.ts';
import { HEALTH_PATH, READY_PATH } from '../contract/runs.ts';
import type { SandboxPool } from '../env.ts';
import { readBytes } from '../net/read-bytes.ts';
import type { HostDirectory, KnownHost } from './host-directory.ts';

export const HOST_STATUSES = ['ready', 'not_ready', 'draining', 'unreachable'] as const;

/** One sandbox-host: what it says of itself, null where it does not, and what this isolate thinks of it. */
export interface HostReport {
  url: string;
  status: (typeof HOST_STATUSES)[number];
  hostId: string | null;
  running: number | null;
  waiting: number | null;
  capacity: number | null;
  warm: HostHealth['warm'] | null;
  docker: boolean | null;
  missingImages: string[];
  /** How long it took to answer; null when it did not. */
  answerMs: number | null;
  seen: {
    /** Runs of this isolate that are under way there. */
    inFlight: number;
    /** Failures since its last success. */
    failures: number;
    /** Until when it is asked only when no other host is there. */
    leftOutUntil: string | null;
    lastFailure: { at: string; reason: string } | null;
  };
}

export interface PoolReport extends Pick<SandboxPool, 'name' | 'colos' | 'continents'> {
  hosts: HostReport[];
}

interface InspectionOptions {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  now: () => number;
}

const TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 262_144;

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** What a host answers, or undefined when it is silent or sends something else. */
async function read<Schema extends z.ZodType>(
  url: string,
  schema: Schema,
  { fetch }: InspectionOptions,
): Promise<z.infer<Schema> | undefined> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { redirect: 'manual', signal });
    const { bytes } = await readBytes(response, { maxBytes: MAX_ANSWER_BYTES, signal });
    return schema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  } catch {
    return undefined;
  }
}

async function inspectHost(host: KnownHost, options: InspectionOptions): Promise<HostReport> {
  const { now } = options;
  const askedAt = now();
  let answerMs: number | null = null;
  const [health, readiness] = await Promise.all([
    read(host.url + HEALTH_PATH, hostHealth, options).finally(() => {
      answerMs = now() - askedAt;
    }),
    read(host.url + READY_PATH, hostReadiness, options),
  ]);
  const ownStatus = health?.status === 'draining' ? 'draining' : readiness?.ready ? 'ready' : 'not_ready';
  return {
    url: host.url,
    status: health === undefined ? 'unreachable' : ownStatus,
    hostId: health?.hostId ?? null,
    running: health?.running ?? null,
    waiting: health?.waiting ?? null,
    capacity: health?.capacity ?? null,
    warm: health?.warm ?? null,
    docker: readiness?.docker ?? null,
    missingImages: readiness?.missingImages ?? [],
    answerMs: health === undefined ? null : answerMs,
    seen: {
      inFlight: host.inFlight,
      failures: host.failures,
      leftOutUntil: host.isLeftOut(now()) ? isoOf(host.leftOutUntil) : null,
      lastFailure: host.lastFailure && { at: isoOf(host.lastFailure.at), reason: host.lastFailure.reason },
    },
  };
}

/** Asks every host how it is, all at once; answers within seconds, whatever they do. Never rejects. */
export const inspectPools = (directory: HostDirectory, options: InspectionOptions): Promise<PoolReport[]> =>
  Promise.all(
    directory.pools.map(async ({ hosts, name, colos, continents }) => ({
      name,
      colos,
      continents,
      hosts: await Promise.all(hosts.map((host) => inspectHost(host, options))),
    })),
  );
