import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostError } from '../../sandbox-host/host-error.ts';
import { type RegisteredRun, RunRegistry } from '../../sandbox-host/run-registry.ts';
import { type OutputStream, type RunResult, runRequest } from '../../src/contract/runs.ts';
import { resultOf } from '../support/sandbox-server.ts';

const never = new AbortController().signal;
const request = (id: string, command = ['true']) => runRequest.parse({ id, image: 'alpine:3.20', command });

interface Controlled {
  id: string;
  onStart(): void;
  onOutput(stream: OutputStream, text: string): void;
  end(change?: Partial<RunResult>): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A registry whose runs the test itself starts and ends. */
function createRegistry() {
  const runs: Controlled[] = [];
  const killed: string[] = [];
  let now = 0;
  const registry = new RunRegistry({
    now: () => now,
    kill: (id) => killed.push(id),
    start: ({ id }, on) => {
      const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
      const settled = promise.then(
        () => undefined,
        () => undefined,
      );
      runs.push({
        id,
        ...on,
        end(change) {
          resolve(resultOf(id, change));
          return settled;
        },
        fail(error) {
          reject(error);
          return settled;
        },
      });
      return promise;
    },
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { registry, runs, killed, pass };
}

describe('RunRegistry', () => {
  it('starts an id once', async () => {
    const { registry, runs } = createRegistry();
    const first = registry.join(request('a'), never);
    const second = registry.join(request('a'), never);
    runs[0]?.onStart();
    await runs[0]?.end({ stdout: 'x' });
    expect(await first.result).toEqual(await second.result);
    expect((await registry.join(request('a'), never).result).stdout).toBe('x');
    expect(runs).toHaveLength(1);
  });

  it('refuses another request under a known id', async () => {
    const { registry, runs } = createRegistry();
    registry.join(request('a'), never);
    const other = () => registry.join(request('a', ['false']), never);
    expect(other).toThrow(expect.objectContaining({ code: 'id_in_use', message: 'Another run has the id a' }));
    runs[0]?.onStart();
    await runs[0]?.end();
    expect(other).toThrow(expect.objectContaining({ code: 'id_in_use' }));
  });

  it('starts anew what never ran, and not what was lost', async () => {
    const { registry, runs } = createRegistry();
    const refused = registry.join(request('a'), never);
    await runs[0]?.fail(new HostError('queue_full', 'full'));
    await expect(refused.result).rejects.toThrow('full');
    registry.join(request('a'), never);
    expect(runs).toHaveLength(2);
    runs[1]?.onStart();
    await runs[1]?.fail(new HostError('internal_error', 'lost'));
    await expect(registry.join(request('a'), never).result).rejects.toThrow('lost');
    expect(runs).toHaveLength(2);
  });

  it('gives each caller the output from its beginning, also of a run that has ended', async () => {
    const { registry, runs } = createRegistry();
    const run = registry.join(request('a'), never);
    const textOf = ({ output }: RegisteredRun) => {
      const reader = output.read();
      const pieces: string[] = [];
      for (let piece = reader.next(true); piece; piece = reader.next(true)) pieces.push(`${piece.type} ${piece.text}`);
      return pieces;
    };
    runs[0]?.onStart();
    runs[0]?.onOutput('stderr', 'c');
    runs[0]?.onOutput('stdout', 'a');
    expect(textOf(run)).toEqual(['stderr c', 'stdout a']);
    const second = registry.join(request('a'), never);
    runs[0]?.onOutput('stdout', 'b');
    for (const caller of [run, second]) expect(textOf(caller)).toEqual(['stderr c', 'stdout ab']);
    await runs[0]?.end({ stdout: 'ab', stderr: 'c' });
    expect(textOf(run)).toEqual(['stderr c', 'stdout ab']);
    expect(textOf(registry.join(request('a'), never))).toEqual(['stdout ab', 'stderr c']);
  });

  it('lists what waits and runs', async () => {
    const { registry, runs } = createRegistry();
    registry.join(request('a'), never);
    registry.join(request('b'), never);
    runs[1]?.onStart();
    expect(registry.active).toEqual([
      { id: 'a', image: 'alpine:3.20', state: 'waiting', createdAt: 0 },
      { id: 'b', image: 'alpine:3.20', state: 'running', createdAt: 0 },
    ]);
    await runs[1]?.end();
    expect(registry.active.map(({ id }) => id)).toEqual(['a']);
  });

  it('forgets a run ten minutes after its end', async () => {
    const { registry, runs, pass } = createRegistry();
    registry.join(request('a'), never);
    runs[0]?.onStart();
    pass(10_000_000);
    await runs[0]?.end();
    pass(600_000);
    registry.join(request('a'), never);
    expect(runs).toHaveLength(1);
    pass(1);
    registry.join(request('a'), never);
    expect(runs).toHaveLength(2);
  });

  it('keeps a bounded amount of results, and refuses to run again what it no longer has', async () => {
    const { registry, runs } = createRegistry();
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      registry.join(request(id), never);
      runs[index]?.onStart();
      await runs[index]?.end({ stdout: 'x'.repeat(6_000_000) });
    }
    expect(() => registry.join(request('a'), never)).toThrow(
      expect.objectContaining({ code: 'id_in_use', message: 'Run a has ended, and its result is no longer kept' }),
    );
    expect((await registry.join(request('b'), never).result).stdout).toHaveLength(6_000_000);
    expect((await registry.join(request('c'), never).result).stdout).toHaveLength(6_000_000);
    expect(runs).toHaveLength(3);
  });
});

describe('a caller who leaves', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('gives up a run that waits at once', () => {
    const { registry, killed } = createRegistry();
    const [one, two] = [new AbortController(), new AbortController()];
    registry.join(request('a'), one.signal);
    registry.join(request('a'), two.signal);
    one.abort();
    expect(killed).toEqual([]);
    two.abort();
    expect(killed).toEqual(['a']);
  });

  it('gives up one that runs after a second, unless somebody comes back', () => {
    const { registry, runs, killed } = createRegistry();
    const leave = () => {
      const caller = new AbortController();
      registry.join(request('a'), caller.signal);
      return () => caller.abort();
    };
    const first = leave();
    runs[0]?.onStart();
    first();
    vi.advanceTimersByTime(900);
    const second = leave();
    vi.advanceTimersByTime(5_000);
    expect(killed).toEqual([]);
    second();
    vi.advanceTimersByTime(1_000);
    expect(killed).toEqual(['a']);
  });

  it('does not harm a run that has ended', async () => {
    const { registry, runs, killed } = createRegistry();
    const caller = new AbortController();
    registry.join(request('a'), caller.signal);
    runs[0]?.onStart();
    await runs[0]?.end();
    caller.abort();
    vi.advanceTimersByTime(10_000);
    expect(killed).toEqual([]);
  });
});
