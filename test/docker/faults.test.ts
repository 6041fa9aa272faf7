import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import type { JsonObject } from '../../src/json.ts';
import { newRunId, TEST_SECRET } from '../support/docker.ts';
import { type OwnDocker, startOwnDocker } from '../support/own-docker.ts';
import { type RunningProcess, waitUntilGone } from '../support/processes.ts';
import { type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts';
import { signedRequest } from '../support/sandbox-request.ts';

const IMAGE = 'alpine:3.20';
/** What hosts allow and this Docker does not have. */
const ABSENT = ['node:22-alpine', 'python:3.12-alpine'];
const within = { timeout: 20_000, interval: 50 };

let docker: OwnDocker;
let proxy: Server | undefined;
beforeAll(async () => {
  docker = await startOwnDocker(IMAGE);
});
afterAll(async () => {
  try {
    await waitUntilGone(reapers);
  } finally {
    proxy?.close();
    await docker?.dispose();
  }
});

const started: SandboxProcess[] = [];
/** They stay a while after their host, also when that ended in good order without Docker. */
const reapers: RunningProcess[] = [];
afterEach(async () => {
  for (const host of started.splice(0)) {
    for (const line of host.lines) {
      if (line.includes('"sandbox.reaper.started"')) reapers.push({ pid: (JSON.parse(line) as { pid: number }).pid, command: line });
    }
    host.signal('SIGTERM');
    host.signal('SIGTERM');
    await host.exited;
  }
  expect(await docker.engine.listByLabel(SANDBOX_LABEL)).toEqual([]);
});

type Host = Awaited<ReturnType<typeof startHost>>;
async function startHost(variables: Record<string, string> = {}) {
  const host = await startSandboxProcess({
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: `test-${randomUUID()}`,
    DOCKER_HOST: `unix://${docker.socketPath}`,
    SANDBOX_WARM_MAX: '0',
    ...variables,
  });
  started.push(host);
  const send = async (method: string, path: string, body?: object) =>
    fetch(host.url + path, await signedRequest(TEST_SECRET, method, path, { body }));
  /** Status and body of the answer to a run; a string when there was none. */
  const run = async (command: string[], { query = '', ...body }: JsonObject & { query?: string } = {}) => {
    try {
      const response = await send('POST', `/v1/runs${query}`, { id: newRunId(), image: IMAGE, command, ...body });
      return { status: response.status, ...((await response.json()) as JsonObject) };
    } catch {
      return 'no answer';
    }
  };
  const readiness = async () => (await (await fetch(`${host.url}/readyz`)).json()) as JsonObject;
  return { ...host, send, run, readiness };
}

const running = (host: Host, count: number) =>
  vi.waitFor(async () => {
    const { runs } = (await (await host.send('GET', '/v1/runs')).json()) as { runs: { state: string }[] };
    expect(runs.filter(({ state }) => state === 'running')).toHaveLength(count);
  }, within);
const nothingLeft = () => vi.waitFor(async () => expect(await docker.engine.listByLabel(SANDBOX_LABEL)).toEqual([]), within);

const UNAVAILABLE = { status: 503, code: 'docker_unavailable' };
const LOST = { status: 500, code: 'internal_error', error: 'The container was lost' };
const hello = { status: 200, stdout: 'hello\n', exitCode: 0, killed: false };

/** Runs work again, and those of before have left nothing. */
async function recovered(host: Host) {
  await vi.waitFor(async () => expect(await host.readiness()).toMatchObject({ ready: true, docker: true }), within);
  expect(await host.run(['echo', 'hello'])).toMatchObject(hello);
  await nothingLeft();
}

describe('Docker', () => {
  it.each([
    ['stopped', 'SIGTERM', { status: 200, exitCode: 143, signal: 'SIGTERM' }],
    ['killed', 'SIGKILL', LOST],
  ] as const)('is %s in mid-run and started again', async (_, signal, outcome) => {
    const host = await startHost({ SANDBOX_MAX_CONCURRENT: '1' });
    const request = { id: newRunId() };
    const first = host.run(['sleep', '60'], request);
    await running(host, 1);
    const waiting = host.run(['echo', 'never']);
    await docker.end(signal);
    expect(await first).toMatchObject(outcome);
    expect(await waiting).toMatchObject({ ...UNAVAILABLE, error: 'Docker does not answer' });
    expect(await host.run(['true'])).toMatchObject(UNAVAILABLE);
    expect(await host.readiness()).toEqual({ ready: false, docker: false, missingImages: [], draining: false, warm: 0 });
    await docker.start();
    expect(await host.run(['sleep', '60'], request)).toEqual(await first);
    await recovered(host);
  });

  it('is out of reach in mid-run: what runs goes on, what should be killed is removed later', async () => {
    const host = await startHost();
    const short = host.run(['sh', '-c', 'sleep 1; echo hello']);
    const long = host.run(['sleep', '60'], { limits: { timeoutMs: 1_000 } });
    await running(host, 2);
    const showSocket = docker.hideSocket();
    try {
      expect(await host.run(['true'])).toMatchObject({ ...UNAVAILABLE, error: 'Docker does not answer' });
      expect(await short).toMatchObject(hello);
      expect(await long).toMatchObject({ status: 200, timedOut: true, killed: true, exitCode: 137 });
      await vi.waitFor(() => expect(host.lines.join()).toContain('"sandbox.containers.left"'), within);
    } finally {
      showSocket();
    }
    await recovered(host);
    expect(host.lines.join()).toContain('"sandbox.containers.removed_late","removed":1');
  });

  it('is out of reach when hosts end: their containers are removed later', async () => {
    const hosts = [await startHost({ SANDBOX_DRAIN_SECONDS: '0' }), await startHost()] as const;
    const runs = hosts.map((host) => host.run(['sleep', '60']));
    for (const host of hosts) await running(host, 1);
    const showSocket = docker.hideSocket();
    try {
      hosts[0].signal('SIGTERM');
      hosts[1].signal('SIGKILL');
      expect(await Promise.all(hosts.map(({ exited }) => exited))).toEqual([0, null]);
      expect(await Promise.all(runs)).toMatchObject([{ status: 200, killed: true }, 'no answer']);
      // Longer than it takes to look for what shows up late.
      await delay(4_000);
    } finally {
      showSocket();
    }
    expect(await docker.engine.listByLabel(SANDBOX_LABEL)).not.toEqual([]);
    await nothingLeft();
  });

  it('stalls: every run is answered, and what it does late is undone', async () => {
    const host = await startHost();
    const long = host.run(['sleep', '60'], { limits: { timeoutMs: 1_000 } });
    await running(host, 1);
    docker.signal('SIGSTOP');
    try {
      const late = host.run(['true']);
      expect(await long).toMatchObject({ status: 200, timedOut: true, killed: true });
      expect(await host.readiness()).toMatchObject({ ready: false, docker: false });
      expect(await late).toMatchObject({ ...UNAVAILABLE, error: 'Docker does not answer' });
    } finally {
      docker.signal('SIGCONT');
    }
    await recovered(host);
  });

  it('makes a container and does not get to say so: that is removed, and its run can be sent again', async () => {
    const proxyPath = `${docker.socketPath}.proxy`;
    let cuts = 1;
    proxy = createServer({ allowHalfOpen: true }, (client) => {
      const engine = connect({ path: docker.socketPath, allowHalfOpen: true });
      client.on('error', () => engine.destroy());
      engine.on('error', () => client.destroy());
      client.once('data', (head) => {
        engine.write(head);
        client.pipe(engine);
        if (cuts > 0 && head.includes('/containers/create')) {
          cuts -= 1;
          engine.once('data', () => client.destroy());
        } else {
          engine.pipe(client);
        }
      });
    }).listen(proxyPath);
    const host = await startHost({ DOCKER_HOST: `unix://${proxyPath}` });
    const request = { id: newRunId() };
    expect(await host.run(['echo', 'hello'], request)).toMatchObject(UNAVAILABLE);
    expect(await docker.engine.listByLabel(SANDBOX_LABEL)).toMatchObject([{ state: 'created' }]);
    expect(await host.run(['echo', 'hello'], request)).toMatchObject(hello);
    expect(host.lines.join()).toContain('"sandbox.containers.removed_late","removed":1');
    await recovered(host);
  });

  it('has no space left on its disk', async () => {
    const host = await startHost();
    const before = host.run(['sh', '-c', 'sleep 1; echo hello > file; cat file']);
    await running(host, 1);
    const freeDisk = docker.fillDisk();
    try {
      expect(await host.run(['true'])).toMatchObject({ ...UNAVAILABLE, error: 'Docker has no space left on its disk' });
      expect(await before).toMatchObject(hello);
    } finally {
      freeDisk();
    }
    await recovered(host);
  });
});

describe('an image', () => {
  it('is missing until it is there: readiness names it, no run waits for it', async () => {
    docker.docker('tag', IMAGE, 'kept:1');
    docker.docker('rmi', IMAGE);
    const host = await startHost({ SANDBOX_WARM_MIN: '1', SANDBOX_WARM_MAX: '3' });
    const missing = { status: 503, code: 'image_missing', error: `Sandbox image is not installed on this host: ${IMAGE}` };
    try {
      expect(await host.readiness()).toMatchObject({ ready: false, docker: true, missingImages: [IMAGE, ...ABSENT] });
      expect(await host.run(['echo', 'hello'])).toMatchObject(missing);
    } finally {
      docker.docker('tag', 'kept:1', IMAGE);
    }
    expect(await host.run(['echo', 'hello'])).toMatchObject(hello);
    await vi.waitFor(async () => expect(await host.readiness()).toMatchObject({ ready: true, missingImages: ABSENT, warm: 1 }), within);
    expect(await host.run(['echo', 'hello'], { returnFiles: true })).toMatchObject({ ...hello, warm: true });
  });
});

describe('a sandbox-host', () => {
  it('takes requests of a gateway whose clock is some seconds off, and says so when it is more', async () => {
    const host = await startHost();
    const ask = async (aheadSeconds: number) => {
      const now = Date.now() + aheadSeconds * 1_000;
      const response = await fetch(`${host.url}/v1/runs`, await signedRequest(TEST_SECRET, 'GET', '/v1/runs', { now }));
      return { status: response.status, ...((await response.json()) as JsonObject) };
    };
    for (const ahead of [-50, -5, 4]) expect(await ask(ahead)).toMatchObject({ status: 200, runs: [] });
    const skewed = (when: RegExp) => ({ status: 401, code: 'clock_skew', error: expect.stringMatching(when) });
    expect(await ask(-3_600)).toEqual(skewed(/^The request was signed 36\d\d s ago by the clock of this sandbox host: /));
    expect(await ask(3_600)).toEqual(skewed(/^The request was signed 3[56]\d\d s from now by the clock of this sandbox host: /));
  });

  it('is sent 1,000 runs at once: it has a bounded number wait, and answers every one', async () => {
    const host = await startHost({ SANDBOX_MAX_CONCURRENT: '2', SANDBOX_MAX_QUEUE: '100' });
    const stdin = 'x'.repeat(100_000);
    const answers = Array.from({ length: 1_000 }, () => host.run(['sleep', '60'], { stdin }));
    const statuses = async () => (await Promise.all(answers)).map((answer) => (typeof answer === 'string' ? answer : answer.status));
    await running(host, 2);
    const health = async () => (await (await fetch(`${host.url}/healthz`)).json()) as JsonObject;
    await vi.waitFor(async () => expect(await health()).toMatchObject({ running: 2, waiting: 100, capacity: 2 }), within);
    const metrics = async () => (await fetch(`${host.url}/metrics`)).text();
    await vi.waitFor(async () => expect(await metrics()).toContain('omniroute_sandbox_runs_total{outcome="refused"} 898\n'), within);
    expect(await docker.engine.listByLabel(SANDBOX_LABEL)).toHaveLength(2);
    expect(await (await host.send('DELETE', '/v1/runs')).json()).toEqual({ killed: 102 });
    expect(Object.entries(Object.groupBy(await statuses(), String)).map(([status, all]) => [status, all?.length])).toEqual([
      ['200', 102],
      ['429', 898],
    ]);
    expect(await Promise.all(answers)).toContainEqual(expect.objectContaining({ status: 429, code: 'queue_full' }));
    const peakKb = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${host.pid}/status`, 'utf8'))?.[1]);
    expect(peakKb).toBeLessThan(700 * 1_024);
    await recovered(host);
  });

  it('that is killed and started again runs an id anew, unless that is meant for its earlier life', async () => {
    const variables = { SANDBOX_HOST_ID: `test-${randomUUID()}` };
    const first = await startHost(variables);
    const life = (await fetch(`${first.url}/healthz`)).headers.get('x-sandbox-life');
    const request = { id: newRunId(), query: `?life=${life}` };
    const lost = first.run(['sh', '-c', 'sleep 1; echo hello'], request);
    await running(first, 1);
    first.signal('SIGKILL');
    expect(await lost).toBe('no answer');
    const second = await startHost({ ...variables, SANDBOX_PORT: new URL(first.url).port });
    expect(await second.run(['sh', '-c', 'sleep 1; echo hello'], request)).toMatchObject({ status: 412, code: 'host_restarted' });
    const again = { id: request.id };
    const answers = await Promise.all([1, 2].map(() => second.run(['sh', '-c', 'sleep 1; echo hello'], again)));
    expect(answers).toEqual([answers[1], expect.objectContaining(hello)]);
    await recovered(second);
  });
});
