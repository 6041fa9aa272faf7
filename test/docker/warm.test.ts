import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AdmissionQueue } from '../../sandbox-host/admission-queue.ts';
import { type ContainerSource, createColdSource } from '../../sandbox-host/container-source.ts';
import { BOOT_LABEL, createBody } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { runProgram } from '../../sandbox-host/run-program.ts';
import { SandboxRunner } from '../../sandbox-host/sandbox-runner.ts';
import { WarmSource } from '../../sandbox-host/warm-source.ts';
import type { WarmLimits } from '../../sandbox-host/warm-stocks.ts';
import { type RunRequest, type RunResult, runRequest } from '../../src/contract/runs.ts';
import { newRunId, socketPath } from '../support/docker.ts';
import { docker } from '../support/docker-cli.ts';

const engine = createDockerEngine(socketPath);

const ALPINE = 'alpine:3.20';
const JAVASCRIPT = { image: 'node:22-alpine', command: ['node', '-'], stdin: 'console.log(6 * 7)', returnFiles: true };
const within = { timeout: 20_000, interval: 20 };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const runnerOf = (source: ContainerSource) => {
  const runner = new SandboxRunner({
    engine,
    source,
    queue: new AdmissionQueue({ maxConcurrent: 20, maxQueue: 20 }),
    drive: (...run) => runProgram(engine, ...run),
  });
  closing.push(() => runner.killAll());
  return (change: Partial<RunRequest>): Promise<RunResult> => {
    const { image, command, env, ...config } = runRequest.parse({ id: newRunId(), image: ALPINE, command: ['echo', 'hi'], ...change });
    return runner.run(image, command, env, config);
  };
};

/** A source of warm containers on the real Docker, on a clock that a test can turn on. */
function createSource(limits: Partial<WarmLimits> = {}, itsEngine = engine) {
  const identity = { hostId: `test-${randomUUID()}`, bootId: randomUUID() };
  const log: object[] = [];
  const clock = { aheadMs: 0 };
  const source = new WarmSource({
    engine: itsEngine,
    identity,
    limits: { minWarm: 1, maxWarm: 8, maxWarmAgeMs: 600_000, isNetworkWarm: false, ...limits },
    images: [ALPINE],
    maxStarting: 4,
    now: () => Date.now() + clock.aheadMs,
    log: (level, event, fields) => log.push({ level, event, ...fields }),
  });
  closing.push(() => source.retire());
  return {
    source,
    identity,
    clock,
    log,
    run: runnerOf(source),
    settled: () =>
      vi.waitFor(() => {
        expect(source.counts.making).toBe(0);
        expect(source.counts.ready).toBeGreaterThanOrEqual(source.counts.target);
        return source.counts;
      }, within),
    containers: async () => (await engine.listByLabel(`${BOOT_LABEL}=${identity.bootId}`)).map(({ id }) => id),
  };
}

describe('containers that wait', () => {
  it('are there before the first run, and a run that takes one is followed by a new one', async () => {
    const { source, run, settled, containers } = createSource({ minWarm: 2 });
    source.open();
    expect(await settled()).toEqual({ ready: 2, making: 0, target: 2 });
    const before = await containers();
    expect(before).toHaveLength(2);
    expect(await run({})).toMatchObject({ stdout: 'hi\n', warm: true });
    await vi.waitFor(async () => {
      expect((await settled()).ready).toBe(2);
      const after = await containers();
      expect(after).toHaveLength(2);
      expect(after.filter((id) => before.includes(id))).toHaveLength(1);
    }, within);
  });

  it('are used once', async () => {
    const { source, run, settled } = createSource({ minWarm: 3 });
    source.open();
    await settled();
    const marks = await Promise.all(
      [1, 2, 3].map(() => run({ command: ['sh', '-c', 'ls /tmp /workspace; echo x | tee /tmp/mark /workspace/mark'] })),
    );
    expect(marks.map(({ stdout, warm }) => [stdout, warm])).toEqual(Array(3).fill(['/tmp:\n\n/workspace:\nx\n', true]));
  });

  it('are to Docker what the create body says, and so are those that were made in a hurry', async () => {
    const { source, run, settled, containers, identity } = createSource({ minWarm: 0 });
    const hurried = createSource({ maxWarm: 0 });
    await run(JAVASCRIPT);
    await run(JAVASCRIPT);
    await run({});
    await run({});
    await settled();
    const waiting = JSON.parse(await docker(['inspect', ...(await containers())]));
    const commands = waiting.map(({ Path, Args }: { Path: string; Args: string[] }) => [Path, ...Args.slice(2)].join(' '));
    expect(new Set(commands)).toEqual(new Set(['sh omniroute', 'sh omniroute node -']));
    const request = runRequest.parse({ id: newRunId(), ...JAVASCRIPT });
    const container = await hurried.source.take(request);
    closing.push(() => engine.remove(container.containerId));
    expect(container.warm).toBe(false);
    for (const [one, owner] of [
      ...waiting.map((one: object) => [one, identity]),
      [JSON.parse(await docker(['inspect', container.containerId]))[0], hurried.identity],
    ]) {
      const id = one.Name.slice('/omniroute-'.length);
      expect(id).toMatch(/^warm-/);
      const { image, limits } = runRequest.parse({ id, image: one.Config.Image, command: ['x'] });
      const spec = { id, image, command: one.Config.Cmd ?? [], env: {}, limits };
      const { HostConfig, NetworkDisabled, Healthcheck, Env, Cmd, ...config } = createBody(spec, owner);
      expect(one.HostConfig).toMatchObject(HostConfig);
      expect(one.Config).toMatchObject(config);
      expect(one.Config.Env).toEqual(expect.arrayContaining(Env));
      expect(one.HostConfig).toMatchObject({ Privileged: false, Binds: null, CpuQuota: 0, CpuPeriod: 0 });
      expect(one.Mounts).toEqual([]);
      expect(Object.keys(one.NetworkSettings.Networks)).toEqual([]);
    }
    expect(source.kinds.map(({ command, cpuLimit, memoryLimit }) => ({ command, cpuLimit, memoryLimit }))).toEqual([
      { command: ['node', '-'], cpuLimit: 100, memoryLimit: 256 },
      { command: [], cpuLimit: 100, memoryLimit: 256 },
    ]);
  });

  it('become as many as runs come at a time, up to the ceiling, and fewer when no more come', async () => {
    const { source, clock, run, settled, containers } = createSource({ maxWarm: 3 });
    source.open();
    await settled();
    const burst = await Promise.all(Array.from({ length: 5 }, () => run({})));
    expect(burst.filter(({ warm }) => warm)).toHaveLength(1);
    expect((await settled()).ready).toBe(3);
    expect((await Promise.all([1, 2, 3].map(() => run({})))).map(({ warm }) => warm)).toEqual([true, true, true]);
    await settled();
    clock.aheadMs += 540_000;
    await source.check();
    expect(await settled()).toEqual({ ready: 1, making: 0, target: 1 });
    await vi.waitFor(async () => expect(await containers()).toHaveLength(1), within);
  });

  it('are of any kind that was asked for twice, for a while', async () => {
    const { source, clock, run, settled } = createSource({ minWarm: 0 });
    const wanted = { limits: runRequest.shape.limits.parse({ cpuLimit: 1_000, memoryLimit: 64 }) };
    expect((await run(wanted)).warm).toBe(false);
    expect(source.counts.target).toBe(0);
    expect((await run(wanted)).warm).toBe(false);
    await settled();
    expect((await run(wanted)).warm).toBe(true);
    await settled();
    clock.aheadMs += 1_200_000;
    await source.check();
    await settled();
    expect(source.kinds).toEqual([]);
  });

  it('have no network unless that is wanted', async () => {
    const limits = runRequest.shape.limits.parse({ networkEnabled: true });
    for (const isNetworkWarm of [false, true]) {
      const { run, settled } = createSource({ minWarm: 0, isNetworkWarm });
      await run({ limits });
      await run({ limits });
      await settled();
      expect((await run({ limits })).warm).toBe(isNetworkWarm);
    }
  });

  it.each([
    ['dies', (id: string) => docker(['kill', id]), false],
    ['is removed', (id: string) => docker(['rm', '--force', id]), false],
    ['is paused', (id: string) => docker(['pause', id]), true],
  ])('are replaced when one %s', async (_, harm, isFoundByCheck) => {
    const { source, run, settled, containers } = createSource();
    source.open();
    await settled();
    const [harmed] = await containers();
    await harm(harmed ?? '');
    if (isFoundByCheck) await source.check();
    await vi.waitFor(async () => {
      expect(source.counts).toMatchObject({ ready: 1, making: 0 });
      expect(await containers()).not.toContain(harmed);
    }, within);
    expect(await run({})).toMatchObject({ stdout: 'hi\n', warm: true });
  });

  it('are replaced when they are old', async () => {
    const { source, clock, settled, containers } = createSource({ maxWarmAgeMs: 60_000 });
    source.open();
    await settled();
    const [old] = await containers();
    clock.aheadMs += 59_000;
    await source.check();
    expect(await containers()).toEqual([old]);
    clock.aheadMs += 1_000;
    await source.check();
    await vi.waitFor(async () => {
      expect(await containers()).toHaveLength(1);
      expect(await containers()).not.toContain(old);
    }, within);
  });

  it('are not checked anew while Docker has not answered the last check', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    closing.push(async () => vi.useRealTimers());
    const answers: (() => void)[] = [];
    const listByLabel = (label: string) => new Promise<void>((resolve) => answers.push(resolve)).then(() => engine.listByLabel(label));
    const { source, settled } = createSource({}, { ...engine, listByLabel });
    source.open();
    await settled();
    vi.advanceTimersByTime(60_000);
    expect(answers).toHaveLength(1);
    answers.pop()?.();
    await vi.waitFor(() => {
      vi.advanceTimersByTime(10_000);
      expect(answers).toHaveLength(1);
    }, within);
  });

  it('are replaced when their image is', async () => {
    const tag = `omniroute-test-warm:${randomUUID().slice(0, 8)}`;
    await docker(['tag', ALPINE, tag]);
    closing.push(() => docker(['rmi', tag]));
    const { source, run, settled, containers } = createSource({ minWarm: 0 });
    await run({ image: tag });
    await run({ image: tag });
    await settled();
    const old = await containers();
    await docker(['tag', 'python:3.12-alpine', tag]);
    await source.check();
    await vi.waitFor(async () => {
      const { ready, target } = await settled();
      expect(ready).toBe(target);
      expect((await containers()).filter((id) => old.includes(id))).toEqual([]);
    }, within);
    expect(await run({ image: tag, command: ['python3', '-c', 'print(1)'] })).toMatchObject({ stdout: '1\n', warm: true });
  });

  it('are gone once the source is retired, which still gives runs a container', async () => {
    const { source, run, settled, containers } = createSource({ minWarm: 3 });
    source.open();
    await vi.waitFor(() => expect(source.counts.ready).toBeGreaterThan(0), within);
    await source.retire();
    expect(await containers()).toEqual([]);
    expect(await run({})).toMatchObject({ stdout: 'hi\n', warm: false });
    expect(await run(JAVASCRIPT)).toMatchObject({ stdout: '42\n', warm: false });
    await vi.waitFor(async () => expect(await containers()).toEqual([]), within);
    expect(await settled()).toEqual({ ready: 0, making: 0, target: 0 });
  });

  it('are told of in the log when they cannot be made, and are not tried again at once', async () => {
    const { source, log } = createSource();
    await source.retire();
    const broken = new WarmSource({
      engine: createDockerEngine('/nonexistent/docker.sock'),
      identity: { hostId: 'broken', bootId: 'broken' },
      limits: { minWarm: 1, maxWarm: 2, maxWarmAgeMs: 600_000, isNetworkWarm: false },
      images: [ALPINE],
      maxStarting: 4,
      now: () => 0,
      log: (level, event, fields) => log.push({ level, event, ...fields }),
    });
    broken.open();
    await vi.waitFor(() => expect(log).toHaveLength(1), within);
    expect(log).toEqual([
      { level: 'warn', event: 'sandbox.warm.failed', image: ALPINE, reason: expect.stringContaining('ENOENT'), retryMs: 1_000 },
    ]);
    const request = runRequest.parse({ id: newRunId(), ...JAVASCRIPT });
    await expect(broken.take(request)).rejects.toMatchObject({ code: 'docker_unavailable', message: 'Docker does not answer' });
    await broken.retire();
  });
});

describe('a run', () => {
  it('gets another container when the one that waited for it has died at that moment', async () => {
    const cold = createColdSource(engine, { hostId: `test-${randomUUID()}`, bootId: randomUUID() });
    let taken = 0;
    const run = runnerOf({
      async take(request) {
        const container = await cold.take(request);
        taken += 1;
        if (taken > 1) return container;
        await engine.kill(container.containerId, 'SIGKILL');
        return { ...container, warm: true };
      },
    });
    expect(await run({})).toMatchObject({ stdout: 'hi\n', exitCode: 0, warm: false });
    expect(taken).toBe(2);
  });

  it('fails when its image is missing, also where containers wait', async () => {
    const { run } = createSource();
    const missing = { code: 'image_missing', message: 'Sandbox image is not installed on this host: omniroute.invalid/none:1' };
    await expect(run({ image: 'omniroute.invalid/none:1' })).rejects.toMatchObject(missing);
    await expect(run({ ...JAVASCRIPT, image: 'omniroute.invalid/none:1' })).rejects.toMatchObject(missing);
  });
});
