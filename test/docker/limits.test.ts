import { Socket } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { AdmissionQueue } from '../../sandbox-host/admission-queue.ts';
import { createColdSource } from '../../sandbox-host/container-source.ts';
import { runProgram } from '../../sandbox-host/run-program.ts';
import { SandboxRunner } from '../../sandbox-host/sandbox-runner.ts';
import { runLimits } from '../../src/contract/runs.ts';
import { createTestHost, newRunId } from '../support/docker.ts';

const { host, hostId, engine, run, containers } = createTestHost();
afterAll(() => host.drain(0));

const ALPINE = 'alpine:3.20';
const NODE = 'node:22-alpine';
const PYTHON = 'python:3.12-alpine';

describe('the timeout', () => {
  it('sends SIGTERM and keeps what the program wrote until then', async () => {
    const script = 'trap "echo bye; exit 5" TERM; echo hello; while :; do sleep 0.02; done';
    const result = await run(ALPINE, ['sh', '-c', script], { limits: { timeoutMs: 600, cpuLimit: 1_000 } });
    expect(result).toMatchObject({ stdout: 'hello\nbye\n', timedOut: true, killed: true, exitCode: 5 });
    expect(result.durationMs).toBeGreaterThanOrEqual(590);
  });

  it('kills a program that ignores SIGTERM', async () => {
    const script = 'trap "" TERM; echo hello; while :; do :; done';
    const result = await run(ALPINE, ['sh', '-c', script], { limits: { timeoutMs: 500 } });
    expect(result).toMatchObject({ stdout: 'hello\n', timedOut: true, killed: true, exitCode: 137, oomKilled: false });
  });

  it('ends programs without a handler', async () => {
    const result = await run(NODE, ['node', '--eval', 'console.log("hello"); for (;;);'], {
      limits: { timeoutMs: 2_000, cpuLimit: 1_000 },
    });
    expect(result).toMatchObject({ stdout: 'hello\n', timedOut: true, killed: true, exitCode: 143 });
  });
});

describe('the output cap', () => {
  it('cuts each stream and lets a program that is nearly done end', async () => {
    const result = await run(ALPINE, ['sh', '-c', 'head -c 5000 /dev/zero | tr "\\0" x; echo err >&2; exit 4'], {
      limits: { maxOutputChars: 1_000 },
    });
    expect(result).toMatchObject({ stdout: 'x'.repeat(1_000), stderr: 'err\n', truncated: true, killed: false, exitCode: 4 });
  });

  it.each(['yes', 'yes >&2', 'while :; do echo x; sleep 0.01; done'])('kills a flood: %s', async (script) => {
    const result = await run(ALPINE, ['sh', '-c', script], { limits: { maxOutputChars: 50, timeoutMs: 30_000 } });
    expect(result).toMatchObject({ truncated: true, killed: true, timedOut: false, exitCode: 137 });
    expect(result.stdout.length + result.stderr.length).toBe(50);
  });

  it('stops reading a flood', async () => {
    const sockets: Socket[] = [];
    const attach = async (containerId: string) => {
      const stream = await engine.attach(containerId);
      if (stream instanceof Socket) sockets.push(stream);
      return stream;
    };
    const counted = { ...engine, attach };
    const source = createColdSource(counted, { hostId, bootId: 'flood' });
    const queue = new AdmissionQueue({ maxConcurrent: 1, maxQueue: 0 });
    const runner = new SandboxRunner({ engine: counted, source, queue, drive: (...run) => runProgram(counted, ...run) });
    const limits = runLimits.parse({ cpuLimit: 1_000 });
    const result = await runner.run(ALPINE, ['yes'], {}, { id: newRunId(), stdin: '', files: [], returnFiles: false, limits });
    expect(result).toMatchObject({ truncated: true, killed: true });
    expect(sockets.map(({ bytesRead }) => bytesRead < 5 * 1_048_576)).toEqual([true]);
  });

  it('does not split a surrogate pair', async () => {
    const result = await run(ALPINE, ['printf', '%s', 'a😀😀'], { limits: { maxOutputChars: 4 } });
    expect(result).toMatchObject({ stdout: 'a😀', truncated: true });
  });
});

describe('the memory limit', () => {
  it('ends a program that takes too much and says so', async () => {
    const result = await run(PYTHON, ['python3', '-c', 'x = bytearray(400 * 1024 * 1024); print("no")'], { limits: { cpuLimit: 1_000 } });
    expect(result).toMatchObject({ exitCode: 137, oomKilled: true, killed: false, stdout: '' });
  });

  it('says so for a child of the program', async () => {
    const script = 'import subprocess,sys; print(subprocess.call([sys.executable, "-c", "bytearray(400 << 20)"]))';
    const result = await run(PYTHON, ['python3', '-c', script], { limits: { cpuLimit: 1_000 } });
    expect(result).toMatchObject({ exitCode: 0, stdout: '-9\n', oomKilled: true });
  });

  it('covers the files in /tmp and /workspace, of 64 MiB each', async () => {
    const script = 'for d in /tmp /workspace; do head -c 80m /dev/zero > $d/x; wc -c < $d/x; done 2>/dev/null';
    expect(await run(ALPINE, ['sh', '-c', script], { limits: { cpuLimit: 1_000 } })).toMatchObject({
      stdout: '67108864\n67108864\n',
      oomKilled: false,
    });
  });

  it('tells of the end of the first process by the kernel', async () => {
    const script = 'head -c 60m /dev/zero > /tmp/x; head -c 60m /dev/zero > /workspace/x; echo survived';
    const result = await run(ALPINE, ['sh', '-c', script], { limits: { cpuLimit: 1_000, memoryLimit: 32 } });
    expect(result).toMatchObject({ oomKilled: true });
    expect(result.exitCode).not.toBe(0);
  });
});

describe('the process limit', () => {
  it('stops a fork bomb', async () => {
    const script = 'b() { b | b & }; b; sleep 20';
    const result = await run(ALPINE, ['sh', '-c', script], { limits: { timeoutMs: 1_500 } });
    expect(result.killed || result.exitCode !== 0).toBe(true);
    await vi.waitFor(async () => expect(await containers()).toEqual([]), { timeout: 15_000 });
  });

  it('is 100', async () => {
    const script = 'i=0; while [ $i -lt 150 ]; do sleep 5 & i=$((i+1)); echo $i; done 2>/dev/null';
    const { stdout } = await run(ALPINE, ['sh', '-c', script], { limits: { cpuLimit: 1_000 } });
    const started = stdout.trim().split('\n').length;
    expect(started).toBeGreaterThan(90);
    expect(started).toBeLessThan(100);
  });
});

describe('what a program may do', () => {
  const denied = [
    ['write to the root file system', 'echo x > /x'],
    ['write to /usr', 'echo x > /usr/x'],
    ['write to /dev', 'echo x > /dev/x'],
    ['run a file of /workspace', 'printf "#!/bin/sh\\necho no\\n" > a; chmod +x a; ./a'],
    ['run a file of /tmp', 'cp /bin/busybox /tmp/b; chmod +x /tmp/b; /tmp/b echo no'],
    ['mount', 'mount -t tmpfs none /tmp'],
    ['change the owner of a file', 'touch a; chown 0 a'],
    ['have a route to anywhere', 'tail -n +2 /proc/net/route | grep .'],
    ['see a Docker socket', 'ls /var/run/docker.sock'],
  ];
  it.each(denied)('is not to %s', async (_, script) => {
    const result = await run(ALPINE, ['sh', '-c', script ?? '']);
    expect(result.exitCode).not.toBe(0);
    expect(result.stdout).toBe('');
  });

  it('runs as nobody, without capabilities, in /workspace, with nothing but a loop-back interface', async () => {
    const script =
      'id -u; id -g; pwd; grep -E "CapEff|CapBnd|NoNewPrivs|^Seccomp:" /proc/self/status | tr -d "\\t"; ls /sys/class/net; ulimit -c; ulimit -n; hostname';
    const { stdout } = await run(ALPINE, ['sh', '-c', script]);
    expect(stdout.split('\n')).toEqual([
      '65534',
      '65534',
      '/workspace',
      'CapEff:0000000000000000',
      'CapBnd:0000000000000000',
      'NoNewPrivs:1',
      'Seccomp:2',
      'lo',
      '0',
      '1024',
      'sandbox',
      '',
    ]);
  });

  it('is to write to /workspace, /tmp and /dev/shm', async () => {
    const script = 'for d in /workspace /tmp /dev/shm; do echo x > $d/x && cat $d/x; done';
    expect(await run(ALPINE, ['sh', '-c', script])).toMatchObject({ exitCode: 0, stdout: 'x\nx\nx\n' });
  });
});

describe('kill', () => {
  it('ends one run and lets the others go on', async () => {
    const ids = [newRunId(), newRunId()] as const;
    const [killed, other] = ids.map((id) => run(ALPINE, ['sleep', '60'], { id }));
    await vi.waitFor(() => expect(host.runner.runningContainers.map(({ runId }) => runId).toSorted()).toEqual(ids.toSorted()), {
      timeout: 20_000,
    });
    expect(host.runner.kill(ids[0])).toBe(true);
    expect(await killed).toMatchObject({ exitCode: 137, killed: true, timedOut: false });
    expect(host.runner.runningContainers.map(({ runId }) => runId)).toContain(ids[1]);
    expect(await host.runner.killAll()).toBeGreaterThanOrEqual(1);
    expect(await other).toMatchObject({ killed: true });
    expect(await containers()).toEqual([]);
  });

  it('says when there is no such run', () => {
    expect(host.runner.kill('nobody')).toBe(false);
  });

  it('ends a program that stops itself or bombs', async () => {
    const id = newRunId();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const running = run(ALPINE, ['sh', '-c', 'kill -STOP $$'], { id, onStart: resolve });
    await started;
    host.runner.kill(id);
    expect(await running).toMatchObject({ killed: true, exitCode: 137 });
  });
});
