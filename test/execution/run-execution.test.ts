import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { backoffMs } from '../../src/execution/run-execution.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createSkillContext } from '../support/skill-context.ts';
import { contextOf, createFixture, type Run, T0 } from './executor-fixture.ts';

const PATIENCE = { timeout: 20_000 };

const at = (ms: number) => new Date(T0 + ms).toISOString();

afterEach(() => {
  vi.useRealTimers();
});

describe('backoffMs', () => {
  it('doubles from 100 ms to 5 s, of which chance leaves at least the half', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 50].map((attempt) => backoffMs(attempt, () => 0))).toEqual([
      50, 100, 200, 400, 800, 1_600, 2_500, 2_500, 2_500,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, chance) => {
        const whole = Math.min(100 * 2 ** (attempt - 1), 5_000);
        const delayMs = backoffMs(attempt, () => chance);
        expect(delayMs >= whole / 2 && delayMs <= whole).toBe(true);
      }),
    );
  });
});

describe('the lease of a run', () => {
  it('is renewed while it goes on, and runs out when nobody renews it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { executor, executions, skill, clock, lines } = await createFixture({ timeoutMs: 60_000 });
    const finish = Promise.withResolvers<object>();
    const { execute } = executor(() => finish.promise);
    const running = execute(skill, {}, contextOf());
    const lease = async () => (await executions.get('id-1'))?.leaseExpiresAt;
    await vi.waitFor(async () => expect(await executions.get('id-1')).toMatchObject({ status: 'running' }), PATIENCE);
    expect(await lease()).toBe(at(15_000));
    for (const ms of [5_000, 10_000, 15_000, 20_000, 25_000, 30_000]) {
      clock.ms = T0 + ms;
      vi.advanceTimersByTime(5_000);
      await vi.waitFor(async () => expect(await lease()).toBe(at(ms + 15_000)), PATIENCE);
      expect(await executions.recoverLeases(new Date(clock.ms))).toBe(0);
    }
    expect(await executions.get('id-1')).toMatchObject({ status: 'running', startedAt: at(0), attempts: 1 });

    expect(await executions.recoverLeases(new Date(T0 + 44_999))).toBe(0);
    expect(await executions.recoverLeases(new Date(T0 + 45_000))).toBe(1);
    const interrupted = await executions.get('id-1');
    expect(interrupted).toMatchObject({ status: 'error', errorMessage: 'interrupted', durationMs: 45_000, finishedAt: at(45_000) });

    // The isolate was not dead after all: its caller gets the result, the row stays as others have seen it.
    finish.resolve({ success: true });
    expect(await running).toMatchObject({ status: 'success' });
    expect(await executions.get('id-1')).toEqual(interrupted);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', event: 'skills.executor.lease_lost' }));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells with each renewal which sandbox-host has the run, so that a run whose isolate died is found there', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { executor, executions, skill, clock } = await createFixture();
    const finish = Promise.withResolvers<object>();
    const { execute } = executor(() => finish.promise, {
      contextFor: ({ apiKeyId, sessionId, id }, signal, _, onHost) => {
        onHost('http://sandbox-1');
        return createSkillContext({ apiKeyId, sessionId, executionId: id, signal });
      },
    });
    const running = execute(skill, {}, contextOf());
    await vi.waitFor(async () => expect(await executions.get('id-1')).toMatchObject({ status: 'running' }), PATIENCE);
    clock.ms += 5_000;
    vi.advanceTimersByTime(5_000);
    await vi.waitFor(async () => expect(await executions.get('id-1')).toMatchObject({ sandboxId: 'http://sandbox-1' }), PATIENCE);
    expect(await executions.recoverLeases(new Date(T0 + 20_000))).toBe(1);
    expect(await executions.get('id-1')).toMatchObject({ errorMessage: 'interrupted', sandboxId: 'http://sandbox-1' });
    finish.resolve({});
    await running;
  });
});

describe('whatever ends an execution', () => {
  const ends: [string, Run, { status: string; errorMessage: string | null }, object?][] = [
    ['a result', () => ({ success: true }), { status: 'success', errorMessage: null }],
    ['a result that says it failed', () => ({ success: false }), { status: 'success', errorMessage: null }],
    ['an error without words', () => Promise.reject(new SkillError('')), { status: 'error', errorMessage: 'The skill failed' }],
    [
      'an error that is nothing but a secret path',
      () => Promise.reject(new SkillError('/srv/app/x')),
      { status: 'error', errorMessage: '[path]' },
    ],
    ['a stack trace', () => Promise.reject(new SkillError('  at run (x.ts:1:2)')), { status: 'error', errorMessage: 'The skill failed' }],
    ['an error without an Error', () => Promise.reject(undefined), { status: 'error', errorMessage: 'The skill failed unexpectedly' }],
    ['an output that is none', () => undefined, { status: 'error', errorMessage: "The skill's output is not a JSON object" }],
    ['its deadline', () => new Promise(() => {}), { status: 'timeout', errorMessage: 'Timed out after 20 ms' }],
    ['its client', () => ({}), { status: 'error', errorMessage: 'Cancelled: the client left' }, { signal: AbortSignal.abort() }],
    ['an input that does not fit', () => ({}), { status: 'error', errorMessage: 'Expected an object' }],
  ];

  it.each(ends)('%s: status, duration, end and message are there, stored as returned', async (name, run, expected, context = {}) => {
    const { executor, executions, skill } = await createFixture({ timeoutMs: 20 });
    const input = name === 'an input that does not fit' ? 'text' : {};
    const execution = await executor(run).execute(skill, input, contextOf(context));
    expect(execution).toMatchObject({ ...expected, durationMs: expect.any(Number), finishedAt: expect.any(String) });
    expect(await executions.get(execution.id)).toEqual(execution);
  });
});
