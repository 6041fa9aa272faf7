import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBody, SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { type RunEvent, runRequest, runResult } from '../../src/contract/runs.ts';
import { newRunId, socketPath, TEST_SECRET } from '../support/docker.ts';
import { type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts';
import { signedRequest } from '../support/sandbox-request.ts';

const engine = createDockerEngine(socketPath);
const started: SandboxProcess[] = [];

async function startHost(variables: Record<string, string> = {}) {
  const hostId = variables.SANDBOX_HOST_ID ?? `test-${randomUUID()}`;
  const host = await startSandboxProcess({
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: hostId,
    DOCKER_HOST: `unix://${socketPath}`,
    // What is to be there when a test looks is what it asked for.
    SANDBOX_WARM_MAX: '0',
    ...variables,
  });
  started.push(host);
  const send = async (method: string, path: string, options: Parameters<typeof signedRequest>[3] = {}) =>
    fetch(host.url + path, await signedRequest(TEST_SECRET, method, path, options));
  return {
    ...host,
    hostId,
    send,
    run: (body: object, options: { accept?: string; signal?: AbortSignal } = {}) =>
      send('POST', '/v1/runs', { body: { id: newRunId(), image: 'alpine:3.20', ...body }, ...options }),
    containers: async () => (await engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`)).map(({ id }) => id),
  };
}

afterEach(async () => {
  for (const host of started.splice(0)) {
    host.signal('SIGTERM');
    host.signal('SIGTERM');
    await host.exited;
  }
});

const within = { timeout: 20_000, interval: 50 };
const running = async (host: Awaited<ReturnType<typeof startHost>>, count: number) =>
  vi.waitFor(async () => {
    const { runs } = (await (await host.send('GET', '/v1/runs')).json()) as { runs: { id: string; state: string }[] };
    expect(runs.filter(({ state }) => state === 'running')).toHaveLength(count);
    return runs;
  }, within);

describe('a sandbox-host', () => {
  it('runs a program over HTTP', async () => {
    const host = await startHost();
    const response = await host.run({ id: 'over-http', command: ['sh', '-c', 'cat; echo err >&2'], stdin: 'in' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sandbox-load')).toMatch(/^1\/\d+$/);
    expect(runResult.parse(await response.json())).toMatchObject({ id: 'over-http', stdout: 'in', stderr: 'err\n', exitCode: 0 });
  });

  it('sends output as it comes', async () => {
    const host = await startHost();
    const script = 'echo one; sleep 0.3; echo two >&2; sleep 0.3; exit 6';
    const response = await host.run({ command: ['sh', '-c', script] }, { accept: 'application/x-ndjson' });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const events = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent);
    expect(events).toEqual([
      { type: 'stdout', text: 'one\n' },
      { type: 'stderr', text: 'two\n' },
      expect.objectContaining({ type: 'result', exitCode: 6, stdout: 'one\n', stderr: 'two\n' }),
    ]);
  });

  it('answers a stream that cannot start with a status', async () => {
    const host = await startHost({ SKILLS_ALLOWED_SANDBOX_IMAGES: 'omniroute.invalid/none:1' });
    const response = await host.run({ image: 'omniroute.invalid/none:1', command: ['true'] }, { accept: 'application/x-ndjson' });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      code: 'image_missing',
      error: 'Sandbox image is not installed on this host: omniroute.invalid/none:1',
    });
  });

  it('runs an id once, however often it is sent', async () => {
    const host = await startHost();
    const body = { id: newRunId(), command: ['sh', '-c', 'head -c 16 /dev/urandom | md5sum; sleep 0.3'] };
    const first = host.run(body);
    await running(host, 1);
    const answers = await Promise.all([first, host.run(body), host.run(body)]);
    const results = await Promise.all(answers.map((answer) => answer.json()));
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
    expect(await (await host.run(body)).json()).toEqual(results[0]);
    const other = await host.run({ ...body, command: ['echo', 'other'] });
    expect(other.status).toBe(409);
    expect(await other.json()).toEqual({ code: 'id_in_use', error: `Another run has the id ${body.id}` });
  });

  it('kills one run, and all', async () => {
    const host = await startHost();
    const ids = [newRunId(), newRunId(), newRunId()];
    const answers = ids.map((id) => host.run({ id, command: ['sleep', '60'] }));
    await running(host, 3);
    const one = await host.send('DELETE', `/v1/runs/${ids[0]}`);
    expect(await one.json()).toEqual({ id: ids[0], killed: true });
    expect(await (await answers[0])?.json()).toMatchObject({ killed: true, exitCode: 137 });
    const all = await host.send('DELETE', '/v1/runs');
    expect(await all.json()).toEqual({ killed: expect.toBeOneOf([2, 3]) });
    expect(await host.containers()).toEqual([]);
    expect((await host.send('DELETE', `/v1/runs/${ids[0]}`)).status).toBe(404);
  });

  it('keeps more runs waiting, refuses those past the queue, and drops one whose caller leaves', async () => {
    const host = await startHost({ SANDBOX_MAX_CONCURRENT: '1', SANDBOX_MAX_QUEUE: '1' });
    const first = newRunId();
    const holder = host.run({ id: first, command: ['sleep', '60'] });
    await running(host, 1);
    const leaving = new AbortController();
    const waiting = host.run({ command: ['echo', 'never'] }, { signal: leaving.signal }).catch(() => 'left');
    const waitingRuns = async () => ((await (await fetch(`${host.url}/healthz`)).json()) as { waiting: number }).waiting;
    await vi.waitFor(async () => expect(await waitingRuns()).toBe(1), within);
    const refused = await host.run({ command: ['true'] });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.json()).toMatchObject({ code: 'queue_full' });
    leaving.abort();
    expect(await waiting).toBe('left');
    await vi.waitFor(async () => expect(await waitingRuns()).toBe(0), within);
    const next = host.run({ command: ['echo', 'next'] });
    await vi.waitFor(async () => expect(await waitingRuns()).toBe(1), within);
    await host.send('DELETE', `/v1/runs/${first}`);
    await holder;
    const result = runResult.parse(await (await next).json());
    expect(result.stdout).toBe('next\n');
    expect(result.queuedMs).toBeGreaterThan(0);
  });

  it('kills a run whose caller has gone', async () => {
    const host = await startHost();
    const leaving = new AbortController();
    const gone = host.run({ command: ['sleep', '60'] }, { signal: leaving.signal }).catch(() => 'left');
    await running(host, 1);
    leaving.abort();
    expect(await gone).toBe('left');
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('lets a caller whose connection broke come back to its run', async () => {
    const host = await startHost();
    const breaking = new AbortController();
    const body = { id: newRunId(), command: ['sh', '-c', 'sleep 2; echo survived'] };
    const broken = host.run(body, { signal: breaking.signal }).catch(() => 'broken');
    await running(host, 1);
    breaking.abort();
    expect(await broken).toBe('broken');
    expect(await (await host.run(body)).json()).toMatchObject({ stdout: 'survived\n', killed: false });
  });

  it('drains when it is told to stop', async () => {
    const host = await startHost();
    const short = host.run({ command: ['sh', '-c', 'sleep 1.5; echo done'] });
    const long = host.run({ command: ['sleep', '60'] });
    await running(host, 2);
    host.signal('SIGTERM');
    await vi.waitFor(async () => expect(await (await fetch(`${host.url}/healthz`)).json()).toMatchObject({ status: 'draining' }), within);
    const refused = await host.run({ command: ['true'] });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({ code: 'draining', error: 'This sandbox host is shutting down' });
    expect((await fetch(`${host.url}/readyz`)).status).toBe(503);
    expect(await (await short).json()).toMatchObject({ stdout: 'done\n', killed: false });
    expect(await (await long).json()).toMatchObject({ killed: true, timedOut: false });
    expect(await host.exited).toBe(0);
    expect(await host.containers()).toEqual([]);
  });

  it('leaves nothing behind when it is killed', async () => {
    const host = await startHost();
    const lost = Promise.allSettled([
      host.run({ command: ['sleep', '60'] }),
      host.run({ command: ['sh', '-c', 'trap "" TERM; while :; do :; done'] }),
    ]);
    await running(host, 2);
    host.signal('SIGKILL');
    await host.exited;
    await lost;
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('starts its reaper again when that is killed, so that it still leaves nothing behind', async () => {
    const host = await startHost();
    const eventsOf = (event: string) => host.lines.map((line) => JSON.parse(line)).filter((entry) => entry.event === event);
    for (const round of [1, 2]) {
      const reapers = () => eventsOf('sandbox.reaper.started');
      await vi.waitFor(() => expect(reapers()).toHaveLength(round), within);
      process.kill(reapers()[round - 1].pid, 'SIGKILL');
    }
    await vi.waitFor(() => expect(eventsOf('sandbox.reaper.started')).toHaveLength(3), within);
    expect(eventsOf('sandbox.reaper.ended')).toMatchObject([
      { level: 'warn', reason: 'SIGKILL', restartMs: 250 },
      { level: 'warn', reason: 'SIGKILL', restartMs: 500 },
    ]);
    const lost = host.run({ command: ['sleep', '60'] }).catch(() => 'lost');
    await running(host, 1);
    host.signal('SIGKILL');
    await host.exited;
    expect(await lost).toBe('lost');
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('removes what an earlier life of it left, and nothing else', async () => {
    const leave = async (hostId: string) => {
      const request = runRequest.parse({ id: newRunId(), image: 'alpine:3.20', command: ['true'] });
      const id = await engine.createContainer(`omniroute-${request.id}`, createBody(request, { hostId, bootId: 'an earlier life' }));
      return id;
    };
    const hostId = `test-${randomUUID()}`;
    const other = `${hostId}-other`;
    const [left, others] = [await leave(hostId), await leave(other)];
    const host = await startHost({ SANDBOX_HOST_ID: hostId });
    expect(await host.containers()).not.toContain(left);
    expect((await engine.listByLabel(`${SANDBOX_LABEL}=${other}`)).map(({ id }) => id)).toEqual([others]);
    await engine.remove(others);
  });

  it('says what it misses', async () => {
    const ready = await startHost({ SKILLS_ALLOWED_SANDBOX_IMAGES: 'omniroute.invalid/none:1' });
    const answer = await fetch(`${ready.url}/readyz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      ready: true,
      docker: true,
      missingImages: ['omniroute.invalid/none:1'],
      draining: false,
      warm: 0,
    });
    const alone = await startHost({ DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
    const refusal = await fetch(`${alone.url}/readyz`);
    expect(refusal.status).toBe(503);
    expect(await refusal.json()).toEqual({ ready: false, docker: false, missingImages: [], draining: false, warm: 0 });
    const run = await alone.run({ command: ['true'] });
    expect(run.status).toBe(503);
    expect(await run.json()).toEqual({ code: 'docker_unavailable', error: 'Docker does not answer' });
  });

  const WARM = { SANDBOX_WARM_MIN: '1', SANDBOX_WARM_MAX: '4' };
  const warmed = async (host: Awaited<ReturnType<typeof startHost>>) =>
    vi.waitFor(async () => {
      const { warm } = (await (await fetch(`${host.url}/healthz`)).json()) as { warm: object };
      expect(warm).toEqual({ ready: 3, making: 0, target: 3 });
    }, within);

  it('has containers wait for what the built-in skills run, and says so', async () => {
    const host = await startHost(WARM);
    await warmed(host);
    expect(await (await fetch(`${host.url}/readyz`)).json()).toMatchObject({ ready: true, warm: 3 });
    const usual = [
      { image: 'node:22-alpine', command: ['node', '-'], stdin: 'console.log(42)', returnFiles: true },
      { image: 'python:3.12-alpine', command: ['python3', '-'], stdin: 'print(42)', returnFiles: true },
      { command: ['echo', '42'], returnFiles: true },
    ];
    for (const run of usual) expect(await (await host.run(run)).json()).toMatchObject({ stdout: '42\n', warm: true });
    const { warm } = (await (await host.send('GET', '/v1/runs')).json()) as { warm: object[] };
    expect(warm).toMatchObject([
      { image: 'node:22-alpine', command: ['node', '-'], cpuLimit: 100, memoryLimit: 256 },
      { image: 'python:3.12-alpine', command: ['python3', '-'], cpuLimit: 100, memoryLimit: 256 },
      { image: 'alpine:3.20', command: [], cpuLimit: 100, memoryLimit: 256 },
    ]);
    const metrics = await (await fetch(`${host.url}/metrics`)).text();
    expect(metrics).toContain('omniroute_sandbox_starts_total{start="warm"} 3\n');
    expect(metrics).toContain('omniroute_sandbox_warm_target 3\n');
    await warmed(host);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('leaves no container that waited when it is told to stop by %s', async (signal) => {
    const host = await startHost(WARM);
    await warmed(host);
    const last = host.run({ command: ['sh', '-c', 'sleep 1; echo done'] });
    await running(host, 1);
    host.signal(signal);
    expect(await (await last).json()).toMatchObject({ stdout: 'done\n', warm: true, killed: false });
    expect(await host.exited).toBe(0);
    expect(await host.containers()).toEqual([]);
  });

  it('leaves no container that waited when it is told to stop while it makes them', async () => {
    const host = await startHost(WARM);
    host.signal('SIGTERM');
    expect(await host.exited).toBe(0);
    expect(await host.containers()).toEqual([]);
  });

  it('leaves no container that waited when it is killed, not even without its reaper', async () => {
    const host = await startHost(WARM);
    await warmed(host);
    const reaper = host.lines.map((line) => JSON.parse(line)).find(({ event }) => event === 'sandbox.reaper.started');
    process.kill(reaper.pid, 'SIGKILL');
    host.signal('SIGKILL');
    await host.exited;
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('tells its numbers to Prometheus', async () => {
    const host = await startHost({ SANDBOX_MAX_CONCURRENT: '3' });
    await host.run({ command: ['true'] });
    await host.run({ command: ['false'] });
    const response = await fetch(`${host.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('omniroute_sandbox_runs_total{outcome="ok"} 1\n');
    expect(text).toContain('omniroute_sandbox_runs_total{outcome="error"} 1\n');
    expect(text).toContain('omniroute_sandbox_run_seconds_count 2\n');
    expect(text).toContain('omniroute_sandbox_capacity 3\n');
  });

  it('refuses to start on bad variables, a line for each', async () => {
    const host = await startSandboxProcess({ SANDBOX_PORT: '0', SANDBOX_MAX_CONCURRENT: 'many', DOCKER_HOST: 'tcp://127.0.0.1:2375' });
    expect(await host.exited).toBe(1);
    expect(host.lines).toEqual([
      'SANDBOX_PORT: Use at least 1',
      'SANDBOX_SECRET: Required: a secret that the gateway knows too',
      'DOCKER_HOST: Use a Unix socket, such as unix:///var/run/docker.sock',
      'SANDBOX_MAX_CONCURRENT: Use a whole number',
    ]);
  });

  it('refuses to start on a port in use', async () => {
    const first = await startHost();
    const second = await startSandboxProcess({
      SANDBOX_SECRET: TEST_SECRET,
      SANDBOX_PORT: new URL(first.url).port,
      SANDBOX_HOST_ID: 'second',
    });
    expect(await second.exited).toBe(1);
    expect(second.lines.join('\n')).toContain('SANDBOX_PORT: cannot listen on 127.0.0.1');
  });
});
