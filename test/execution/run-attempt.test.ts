import { describe, expect, it } from 'vitest';
import { FAILED_UNEXPECTEDLY, MAX_OUTPUT_BYTES, runAttempt } from '../../src/execution/run-attempt.ts';
import { SkillError } from '../../src/skills/define.ts';

const NEVER = new AbortController().signal;

async function attempt(run: (signal: AbortSignal) => unknown, options: { timeoutMs?: number; clientSignal?: AbortSignal } = {}) {
  const unexpected: unknown[] = [];
  const result = await runAttempt(async (signal) => run(signal), {
    timeoutMs: options.timeoutMs ?? 10_000,
    clientSignal: options.clientSignal ?? NEVER,
    onUnexpected: (error) => unexpected.push(error),
  });
  return { result, unexpected };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('runAttempt', () => {
  it('gives the output as JSON carries it', async () => {
    const { result } = await attempt(() => ({ when: new Date(0), nothing: undefined, list: [1, null] }));
    expect(result).toEqual({ status: 'success', output: { when: '1970-01-01T00:00:00.000Z', list: [1, null] } });
  });

  it('answers at the deadline when the skill ignores its signal, and swallows what that does later', async () => {
    const late = Promise.withResolvers<never>();
    const { result } = await attempt(() => late.promise, { timeoutMs: 20 });
    expect(result).toEqual({ status: 'timeout', errorMessage: 'Timed out after 20 ms' });
    late.reject(new Error('too late'));
  });

  it('is a timeout also when the skill rejects because of its signal', async () => {
    let reason: unknown;
    const { result, unexpected } = await attempt(
      (signal) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        return untilAborted(signal);
      },
      { timeoutMs: 20 },
    );
    expect(result).toEqual({ status: 'timeout', errorMessage: 'Timed out after 20 ms' });
    expect(reason).toMatchObject({ name: 'TimeoutError' });
    expect(unexpected).toEqual([]);
  });

  it('answers when the client leaves, and tells the skill', async () => {
    const client = new AbortController();
    let told: AbortSignal | undefined;
    const { result } = await attempt(
      (signal) => {
        told = signal;
        queueMicrotask(() => client.abort());
        return new Promise(() => {});
      },
      { clientSignal: client.signal },
    );
    expect(result).toEqual({ status: 'error', errorMessage: 'Cancelled: the client left', failure: 'cancelled' });
    expect(told?.aborted).toBe(true);
  });

  it('does not call the skill for a client that has left', async () => {
    let calls = 0;
    const { result } = await attempt(() => ++calls, { clientSignal: AbortSignal.abort() });
    expect(result).toMatchObject({ errorMessage: 'Cancelled: the client left' });
    expect(calls).toBe(0);
  });

  it('passes on the message of a SkillError, without paths and secrets', async () => {
    const { result, unexpected } = await attempt(() => {
      throw new SkillError('No rights for /home/ann/notes.txt with Bearer abcdef123456', { beforeRun: true });
    });
    expect(result).toEqual({ status: 'error', errorMessage: 'No rights for [path] with Bearer [secret]', failure: 'before-run' });
    expect(unexpected).toEqual([]);
  });

  it.each([
    ['an error', new TypeError('x is not a function at /srv/app.js')],
    ['something that is no error', 'sk-secret'],
  ])('keeps %s that nobody foresaw to the log', async (_, thrown) => {
    const { result, unexpected } = await attempt(() => {
      throw thrown;
    });
    expect(result).toEqual({ status: 'error', errorMessage: FAILED_UNEXPECTEDLY, failure: 'unexpected' });
    expect(unexpected).toEqual([thrown]);
  });

  it.each([undefined, null, 'text', 7, ['a'], () => ({}), new Date(0)])('refuses the output %j', async (output) => {
    const { result } = await attempt(() => output);
    expect(result).toEqual({ status: 'error', errorMessage: "The skill's output is not a JSON object", failure: 'answered' });
  });

  it('counts an output that JSON cannot hold as a failure of the skill', async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const { result, unexpected } = await attempt(() => cyclic);
    expect(result).toMatchObject({ errorMessage: FAILED_UNEXPECTEDLY });
    expect(unexpected).toHaveLength(1);
  });

  it.each([
    ['one-byte', 'a'.repeat(MAX_OUTPUT_BYTES)],
    ['three-byte', '€'.repeat(MAX_OUTPUT_BYTES / 3)],
  ])('bounds the output, counted in bytes: %s characters', async (_, text) => {
    const { result } = await attempt(() => ({ text }));
    expect(result).toMatchObject({ errorMessage: `The skill's output exceeds the ${MAX_OUTPUT_BYTES} byte limit` });
    expect((await attempt(() => ({ text: text.slice(20) }))).result.status).toBe('success');
  });

  it.each([
    ['answered', {}],
    ['transient', { transient: true }],
    ['before-run', { beforeRun: true, transient: true }],
  ])('says of an error that the skill gives that it is %s', async (failure, options) => {
    const { result } = await attempt(() => Promise.reject(new SkillError('Not now', options)));
    expect(result).toEqual({ status: 'error', errorMessage: 'Not now', failure });
  });
});
