import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import type { WarmKindCounts } from '../../sandbox-host/warm-stocks.ts';
import { type RunRequestInput, type RunResult, runResult } from '../../src/contract/runs.ts';
import { newRunId, socketPath, TEST_SECRET } from './docker.ts';
import { startSandboxProcess } from './sandbox-process.ts';
import { signedRequest } from './sandbox-request.ts';

export type HostileRun = Omit<RunRequestInput, 'id'> & { id?: string };

/** A run of each usual kind, so that a container may be waiting for it. */
export const javascript = (stdin: string, run: Partial<HostileRun> = {}): HostileRun => ({
  ...{ image: 'node:22-alpine', command: ['node', '-'], stdin, returnFiles: true },
  ...run,
});
export const python = (stdin: string, run: Partial<HostileRun> = {}): HostileRun => ({
  ...{ image: 'python:3.12-alpine', command: ['python3', '-'], stdin, returnFiles: true },
  ...run,
});
export const shell = (script: string, run: Partial<HostileRun> = {}): HostileRun => ({
  ...{ image: 'alpine:3.20', command: ['sh', '-c', script] },
  ...run,
});

const DOCKER = '/usr/bin/docker';
const within = { timeout: 30_000, interval: 30 };

async function listContainers(): Promise<Set<string>> {
  const { stdout } = await promisify(execFile)(DOCKER, ['-H', `unix://${socketPath}`, 'ps', '-aq', '--no-trunc']);
  return new Set(stdout.trim().split('\n'));
}

/** Notes every container that the host makes, from now on. */
function watchContainers(hostId: string): { made: ReadonlySet<string>; stop(): void } {
  const filters = ['--filter', `label=${SANDBOX_LABEL}=${hostId}`, '--filter', 'event=create'];
  const events = spawn(DOCKER, ['-H', `unix://${socketPath}`, 'events', ...filters, '--format', '{{.ID}}'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const made = new Set<string>();
  createInterface({ input: events.stdout }).on('line', (id) => made.add(id));
  return { made, stop: () => events.kill() };
}

/** Processes of containers that exist no more. */
async function findOrphans(made: ReadonlySet<string>): Promise<{ command: string; container: string }[]> {
  const processes = readdirSync('/proc').flatMap((pid) => {
    try {
      const groups = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cgroup`, 'utf8') : '';
      const container = groups.match(/[0-9a-f]{64}/g)?.find((id) => made.has(id));
      return container === undefined ? [] : [{ command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').slice(0, 100), container }];
    } catch {
      // Gone since it was listed.
      return [];
    }
  });
  const existing = await listContainers();
  return processes.filter(({ container }) => !existing.has(container));
}

/** A sandbox-host as a process of its own, that keeps some containers of each usual kind waiting, and what is to hold of it whatever its programs do. */
export async function startHostileHost(variables: Record<string, string> = {}) {
  const hostId = `test-${randomUUID()}`;
  const containersMade = watchContainers(hostId);
  const process = await startSandboxProcess({
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: hostId,
    DOCKER_HOST: `unix://${socketPath}`,
    SANDBOX_WARM_MIN: '4',
    ...variables,
  });
  const engine = createDockerEngine(socketPath);
  const containers = async () => (await engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`)).map(({ id }) => id);
  const get = async <T>(path: string): Promise<T> => {
    const signed = await signedRequest(TEST_SECRET, 'GET', path);
    return (await (await fetch(process.url + path, { ...signed, signal: AbortSignal.timeout(5_000) })).json()) as T;
  };
  const post = async (run: HostileRun): Promise<Response> =>
    fetch(`${process.url}/v1/runs`, await signedRequest(TEST_SECRET, 'POST', '/v1/runs', { body: { id: newRunId(), ...run } }));

  async function run(request: HostileRun): Promise<RunResult> {
    const response = await post(request);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return runResult.parse(JSON.parse(text));
  }

  const listRuns = () => get<{ runs: { id: string }[]; containers: { runId: string }[]; warm: WarmKindCounts[] }>('/v1/runs');

  /** Resolves when a container of the image waits. */
  const whenWarm = (image: string) =>
    vi.waitFor(async () => {
      const { warm } = await listRuns();
      if (!warm.some((kind) => kind.image === image && kind.ready > 0)) throw new Error(`No container of ${image} waits`);
    }, within);

  /** Starts a run when a container waits; resolves when the run has one, or is over. */
  async function startWarm(request: HostileRun): Promise<{ running: Promise<RunResult> }> {
    await whenWarm(request.image);
    const id = newRunId();
    let isOver = false;
    const running = run({ ...request, id }).finally(() => {
      isOver = true;
    });
    running.catch(() => undefined);
    while (!isOver && !(await listRuns()).containers.some(({ runId }) => runId === id)) await delay(10);
    return { running };
  }

  let lastStart: Promise<unknown> = Promise.resolve();
  /** One after the other looks for a container that waits, so that none is taken from under another. */
  async function runWarm(request: HostileRun): Promise<RunResult> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const started = lastStart.then(() => startWarm(request));
      lastStart = started.catch(() => undefined);
      const result = await (await started).running;
      if (result.warm) return result;
    }
    throw new Error('No container was waiting');
  }

  return {
    ...process,
    run,
    post,
    /** The same run in a container that is started for it, since it has a variable of the environment, and in one that waited. */
    async runBoth(request: HostileRun): Promise<[cold: RunResult, warm: RunResult]> {
      const [cold, warm] = await Promise.all([run({ ...request, env: { COLD: '1', ...request.env } }), runWarm(request)]);
      expect(cold.warm).toBe(false);
      return [cold, warm];
    },
    /** Rejects unless the host is well, nothing of these runs is left, and the next run is right. */
    async expectUnharmed(after: readonly RunResult[]): Promise<void> {
      expect(await get('/healthz')).toMatchObject({ status: 'ok' });
      const next = await run(shell('echo "$((6 * 7))"; ls -A /workspace /tmp /dev/shm'));
      expect(next).toMatchObject({ exitCode: 0, stdout: '42\n/dev/shm:\n\n/tmp:\n\n/workspace:\n', stderr: '', killed: false });
      await vi.waitFor(async () => {
        const { runs, containers } = await listRuns();
        const left = [...runs.map(({ id }) => id), ...containers.map(({ runId }) => runId)];
        expect(left.filter((id) => after.some((result) => result.id === id))).toEqual([]);
        expect(containersMade.made.size).toBeGreaterThan(0);
        expect(await findOrphans(containersMade.made)).toEqual([]);
      }, within);
    },
    /** Bytes of memory that the host's process has, and its open files. */
    usage: () => ({
      bytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1]) * 1_024,
      files: readdirSync(`/proc/${process.pid}/fd`).length,
    }),
    /** Stops the host; resolves with the containers that are left. */
    async stop(): Promise<string[]> {
      containersMade.stop();
      process.signal('SIGTERM');
      process.signal('SIGTERM');
      expect(await process.exited).toBe(0);
      return containers();
    },
  };
}
