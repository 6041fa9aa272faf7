import { eq } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { skills } from '../../src/db/schema.ts';
import type { ExecutorDependencies } from '../../src/execution/create-executor.ts';
import { sleep } from '../../src/execution/sleep.ts';
import type { JsonObject } from '../../src/json.ts';
import { SkillError } from '../../src/skills/define.ts';
import { makeSkill } from '../support/make-skill.ts';
import { createRecordingSandbox, createSkillContext } from '../support/skill-context.ts';
import { contextOf, createFixture, T0 } from './executor-fixture.ts';

const at = (ms: number) => new Date(T0 + ms).toISOString();

describe('a run', () => {
  it('goes from pending over running to success, and is kept', async () => {
    const { executor, executions, skill, clock, lines } = await createFixture();
    let during: unknown;
    const { execute } = executor(async (input, { executionId, apiKeyId, sessionId }) => {
      await vi.waitFor(async () => expect((await executions.get(executionId))?.status).toBe('running'));
      during = await executions.get(executionId);
      clock.ms += 250;
      return { success: true, city: input.city ?? null, apiKeyId, sessionId };
    });
    const execution = await execute(skill, { city: 'Oslo' }, contextOf());
    expect(during).toMatchObject({ status: 'running', attempts: 1, startedAt: at(0), output: null, durationMs: null, finishedAt: null });
    expect(execution).toEqual({
      id: 'id-1',
      skillId: skill.id,
      skillName: 'weather',
      skillVersion: '1.0.0',
      apiKeyId: 'key-1',
      sessionId: 'session-1',
      requestId: 'request-1',
      callId: 'call-1',
      input: { city: 'Oslo' },
      output: { success: true, city: 'Oslo', apiKeyId: 'key-1', sessionId: 'session-1' },
      status: 'success',
      errorMessage: null,
      durationMs: 250,
      attempts: 1,
      sandboxId: null,
      createdAt: at(0),
      startedAt: at(0),
      finishedAt: at(250),
      leaseExpiresAt: at(15_000),
    });
    expect(await executions.get('id-1')).toEqual(execution);
    expect(lines).toEqual([
      { level: 'info', event: 'skills.executor.start', fields: { executionId: 'id-1', skill: 'weather@1.0.0' } },
      {
        level: 'info',
        event: 'skills.executor.complete',
        fields: { executionId: 'id-1', skill: 'weather@1.0.0', status: 'success', durationMs: 250, attempts: 1 },
      },
    ]);
  });

  it('keeps which sandbox-host has the run', async () => {
    const { executor, executions, skill } = await createFixture();
    const contextFor: ExecutorDependencies['contextFor'] = ({ apiKeyId, sessionId, id }, signal, _, onHost) => {
      const sandbox = createRecordingSandbox();
      const run: typeof sandbox.run = (request, options) => {
        onHost('http://sandbox-2');
        return sandbox.run(request, options);
      };
      return createSkillContext({ apiKeyId, sessionId, executionId: id, signal, sandbox: { run } });
    };
    const program = { image: 'alpine:3.20', command: ['true'] };
    const { execute } = executor(
      async (_, { sandbox, executionId, signal }) => {
        const { exitCode } = await sandbox.run({ id: executionId, ...program }, { signal });
        return { exitCode };
      },
      { contextFor },
    );
    const execution = await execute(skill, {}, contextOf());
    expect(execution).toMatchObject({ status: 'success', sandboxId: 'http://sandbox-2' });
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('ends as timeout at the deadline, even when the skill ignores its signal', async () => {
    const { executor, executions, skill } = await createFixture({ timeoutMs: 30 });
    const execution = await executor(() => new Promise(() => {})).execute(skill, {}, contextOf());
    expect(execution).toMatchObject({ status: 'timeout', errorMessage: 'Timed out after 30 ms', output: null, attempts: 1 });
    expect(execution.durationMs).not.toBeNull();
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('takes the default timeout for a skill that has none', async () => {
    const { executor, skill } = await createFixture();
    const { execute, setTimeout } = executor(() => new Promise(() => {}));
    setTimeout(25);
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'timeout', errorMessage: 'Timed out after 25 ms' });
  });

  it('takes a timeout that is longer than any timer', async () => {
    const { executor, skill } = await createFixture({ timeoutMs: 2 ** 40 });
    const late = () => new Promise((resolve) => setImmediate(() => setImmediate(() => resolve({ success: true }))));
    expect(await executor(late).execute(skill, {}, contextOf())).toMatchObject({ status: 'success' });
  });

  it('ends when the client leaves', async () => {
    const { executor, executions, skill } = await createFixture({ idempotent: true });
    const client = new AbortController();
    const { execute } = executor(() => {
      client.abort();
      return new Promise(() => {});
    });
    const execution = await execute(skill, {}, contextOf({ signal: client.signal }));
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left', attempts: 1 });
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('does not begin for a client that has left, and may be asked for again', async () => {
    const { executor, skill } = await createFixture();
    const { execute } = executor(() => ({ success: true }));
    const cancelled = await execute(skill, {}, contextOf({ signal: AbortSignal.abort() }));
    expect(cancelled).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left', attempts: 0, durationMs: 0 });
    const again = await execute(skill, {}, contextOf());
    expect(again).toMatchObject({ status: 'success', requestId: 'request-1' });
    expect(again.id).not.toBe(cancelled.id);
  });

  it('records an input that does not fit as an error that was never run', async () => {
    const { executor, executions, skill } = await createFixture();
    const { execute, checkInput } = executor(() => ({ success: true }));
    expect(checkInput(skill, { fault: '/city: Bearer abcdef123 is no city' })).toBe('/city: Bearer [secret] is no city');
    expect(checkInput(skill, { city: 'Oslo' })).toBeUndefined();
    const execution = await execute(skill, { fault: 'city: Expected string' }, contextOf());
    expect(execution).toMatchObject({
      status: 'error',
      errorMessage: 'city: Expected string',
      attempts: 0,
      durationMs: 0,
      startedAt: null,
    });
    expect(execution.finishedAt).toBe(at(0));
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('takes null for an input like any other value', async () => {
    const { executor, executions, skill } = await createFixture();
    const execution = await executor(() => ({})).execute(skill, null, contextOf());
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'Expected an object', input: null });
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('refuses an input that is too large to keep', async () => {
    const { executor, executions, skill } = await createFixture();
    const { execute } = executor(() => ({}));
    const large = { text: 'a'.repeat(4_194_304) };
    const execution = await execute(skill, large, contextOf());
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'The input exceeds the 4194304 character limit', input: null });
    expect((await executions.get(execution.id))?.input).toBeNull();
  });

  it('fails like any run when the skill cannot be set up', async () => {
    const { executor, skill, lines } = await createFixture();
    const { execute, checkInput } = executor(() => ({}), {
      runnableFor: () => {
        throw new TypeError('no such code');
      },
    });
    expect(checkInput(skill, {})).toBe('The skill failed unexpectedly');
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'error', errorMessage: 'The skill failed unexpectedly' });
    expect(lines[0]).toMatchObject({ level: 'error', event: 'skills.executor.unexpected' });
  });

  it('logs what nobody foresaw by its name and place, without its words', async () => {
    const { executor, skill, lines } = await createFixture();
    await executor(() => JSON.parse('what the user said')).execute(skill, {}, contextOf());
    const line = lines.find(({ event }) => event === 'skills.executor.unexpected');
    expect(line).toMatchObject({ level: 'error', fields: { executionId: 'id-1', skill: 'weather@1.0.0', errorName: 'SyntaxError' } });
    expect(line?.fields.stack).toContainEqual(expect.stringContaining('create-executor.test.ts'));
    expect(JSON.stringify(lines)).not.toContain('the user');
  });

  it.each([
    ['no object', () => ['a'], "The skill's output is not a JSON object"],
    ['paths and secrets', () => Promise.reject(new SkillError('No /srv/app/x.js for Bearer abc123def')), 'No [path] for Bearer [secret]'],
    ['a bug', () => Promise.reject(new Error('omr_abc at /srv/app/x.js')), 'The skill failed unexpectedly'],
  ])('stores and returns nothing it should not: %s', async (_, run, errorMessage) => {
    const { executor, executions, skill } = await createFixture();
    const execution = await executor(run).execute(skill, {}, contextOf());
    expect(execution).toMatchObject({ status: 'error', errorMessage, output: null });
    expect(await executions.get(execution.id)).toEqual(execution);
  });

  it('leaves only built-in skills when the context says so', async () => {
    const { executor, skill, insertSkill } = await createFixture();
    const builtin = makeSkill({ name: 'file_read', kind: 'builtin' });
    await insertSkill(builtin);
    const { execute, park } = executor(() => ({ success: true }));
    const context = contextOf({ customSkillExecutionEnabled: false });
    const refusal = { code: 'skill_off', message: 'Skill weather@1.0.0 is off for this request: only built-in skills may run' };
    await expect(execute(skill, {}, context)).rejects.toMatchObject(refusal);
    await expect(park(skill, {}, context)).rejects.toMatchObject(refusal);
    expect(await execute(builtin, {}, context)).toMatchObject({ status: 'success' });
  });
});

describe('retries', () => {
  const unreachable = () => Promise.reject(new SkillError('No sandbox host is available', { beforeRun: true }));

  it('repeats what failed before it ran, with growing pauses, and counts the attempts', async () => {
    const { executor, executions, skill, sleeps } = await createFixture();
    const execution = await executor(unreachable, { random: () => 0.5 }).execute(skill, {}, contextOf());
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'No sandbox host is available', attempts: 4, durationMs: 525 });
    expect(sleeps).toEqual([75, 150, 300]);
    expect(await executions.get(execution.id)).toMatchObject({ attempts: 4, startedAt: at(0), leaseExpiresAt: at(525 + 15_000) });
  });

  it('ends with the first attempt that works', async () => {
    const { executor, skill } = await createFixture();
    let calls = 0;
    const { execute } = executor(() => {
      calls += 1;
      return calls < 3 ? unreachable() : { success: true };
    });
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'success', attempts: 3, errorMessage: null });
  });

  it.each([
    ['idempotent', true, 4],
    ['not idempotent', false, 1],
  ])('a skill that is %s is called %s times in all', async (_, idempotent, attempts) => {
    const { executor, skill } = await createFixture({ idempotent: idempotent as boolean });
    let calls = 0;
    const { execute } = executor(() => {
      calls += 1;
      throw new Error('flaky');
    });
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'error', attempts });
    expect(calls).toBe(attempts);
  });

  it('an idempotent skill that answers with an error is not called again', async () => {
    const { executor, skill } = await createFixture({ idempotent: true });
    const { execute } = executor(() => {
      throw new SkillError('No such file');
    });
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'error', errorMessage: 'No such file', attempts: 1 });
  });

  it("takes the skill's own number over the default", async () => {
    const { executor, skill, insertSkill } = await createFixture();
    const own = makeSkill({ name: 'other', maxRetries: 0 });
    await insertSkill(own);
    const { execute, setMaxRetries } = executor(unreachable);
    setMaxRetries(1);
    expect(await execute(skill, {}, contextOf())).toMatchObject({ attempts: 2 });
    expect(await execute(own, {}, contextOf({ callId: 'call-2' }))).toMatchObject({ attempts: 1 });
  });

  it('does not repeat after a deadline', async () => {
    const { executor, skill } = await createFixture({ idempotent: true, timeoutMs: 20 });
    expect(await executor(() => new Promise(() => {})).execute(skill, {}, contextOf())).toMatchObject({ status: 'timeout', attempts: 1 });
  });

  it('stops when the client leaves between two attempts', async () => {
    const { executor, skill } = await createFixture();
    const client = new AbortController();
    const { execute } = executor(unreachable, { sleep: async () => client.abort() });
    const execution = await execute(skill, {}, contextOf({ signal: client.signal }));
    expect(execution).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left', attempts: 1 });
  });

  it('begins no attempt later than two minutes after the first', async () => {
    const { executor, skill, clock } = await createFixture({ maxRetries: 50 });
    const { execute } = executor(() => {
      clock.ms += 50_000;
      return unreachable();
    });
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'error', attempts: 3 });
  });

  it('stops when its lease was lost, and leaves the row as it is', async () => {
    const { executor, executions, skill, clock } = await createFixture({ timeoutMs: 1_000 });
    let calls = 0;
    const { execute } = executor(
      () => {
        calls += 1;
        return unreachable();
      },
      {
        sleep: async () => {
          clock.ms += 31_001;
          await executions.recoverLeases(new Date(clock.ms));
        },
      },
    );
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'error', errorMessage: 'interrupted' });
    expect(calls).toBe(1);
    expect(await executions.get('id-1')).toMatchObject({ status: 'error', errorMessage: 'interrupted', durationMs: 31_001 });
  });
});

describe('claims', () => {
  it('two executors on one database run a call once and answer the same', async () => {
    const { executor, skill } = await createFixture();
    let runs = 0;
    const finish = Promise.withResolvers<void>();
    const run = async () => {
      runs += 1;
      await finish.promise;
      return { success: true, runs };
    };
    const first = executor(run, { sleep });
    const second = executor(run, { sleep });
    const both = Promise.all([first.execute(skill, { a: 1, b: 2 }, contextOf()), second.execute(skill, { b: 2, a: 1 }, contextOf())]);
    await vi.waitFor(() => expect(runs).toBe(1));
    finish.resolve();
    const [one, other] = await both;
    expect(runs).toBe(1);
    expect(one).toMatchObject({ status: 'success', output: { success: true, runs: 1 } });
    expect(other).toEqual(one);
  });

  it('a repeat gets the stored result, even when the skill was switched off since', async () => {
    const { executor, skill, db } = await createFixture();
    let runs = 0;
    const { execute } = executor(() => ({ runs: ++runs }));
    const first = await execute(skill, { city: 'Oslo' }, contextOf());
    await db.update(skills).set({ enabled: false, mode: 'off' }).where(eq(skills.id, skill.id));
    expect(await execute(skill, { city: 'Oslo' }, contextOf())).toEqual(first);
    expect(runs).toBe(1);
  });

  it('a repeat after a day runs again, and the history of the first stays', async () => {
    const { executor, executions, skill, clock } = await createFixture();
    let runs = 0;
    const { execute } = executor(() => ({ runs: ++runs }));
    const first = await execute(skill, {}, contextOf());
    clock.ms += 24 * 3_600_000 - 1;
    expect(await execute(skill, {}, contextOf())).toEqual(first);
    clock.ms += 1;
    const second = await execute(skill, {}, contextOf());
    expect(second.output).toEqual({ runs: 2 });
    expect(await executions.get(first.id)).toEqual({ ...first, requestId: `request-1#${first.id}` });
  });

  it.each([
    ['input', { city: 'Rome' }, {}],
    ['skill', { city: 'Oslo' }, { version: '2.0.0' }],
  ])('a different %s under the same claim is a conflict', async (_, input, changes) => {
    const { executor, skill, insertSkill } = await createFixture();
    const { execute } = executor(() => ({}));
    await execute(skill, { city: 'Oslo' }, contextOf());
    const other = 'version' in changes ? makeSkill(changes) : skill;
    if (other !== skill) await insertSkill(other);
    await expect(execute(other, input, contextOf())).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: 'This idempotency key and call id were used for a different call',
    });
  });

  it('the same ids of another key or another call are claims of their own', async () => {
    const { executor, skill } = await createFixture();
    let runs = 0;
    const { execute } = executor(() => ({ runs: ++runs }));
    await execute(skill, {}, contextOf());
    await execute(skill, {}, contextOf({ apiKeyId: 'key-2' }));
    await execute(skill, {}, contextOf({ callId: 'call-2' }));
    await execute(skill, {}, contextOf({ requestId: 'request-2' }));
    expect(runs).toBe(4);
  });

  it('a repeat of a run whose isolate died waits until the lease ends and is told', async () => {
    const { executor, skill, sleeps, clock } = await createFixture({ timeoutMs: 1_000 });
    const dead = executor(() => new Promise(() => {}));
    const running = dead.execute(skill, {}, contextOf());
    await vi.waitFor(async () => expect(await dead.getExecution('id-1')).toMatchObject({ status: 'running' }));
    const { execute } = executor(() => ({}), {
      sleep: async (ms) => {
        sleeps.push(ms);
        clock.ms += 20_000;
      },
    });
    const repeat = await execute(skill, {}, contextOf());
    expect(repeat).toMatchObject({ status: 'error', errorMessage: 'interrupted', durationMs: 20_000, finishedAt: at(20_000) });
    expect(sleeps).toEqual([25]);
    // The run that came to its end after all changes nothing any more.
    expect(await running).toMatchObject({ status: 'timeout' });
    expect(await dead.getExecution('id-1')).toEqual(repeat);
  });

  it('a repeat stops waiting when its client leaves', async () => {
    const { executor, skill } = await createFixture();
    const finish = Promise.withResolvers<object>();
    const first = executor(() => finish.promise);
    const running = first.execute(skill, {}, contextOf());
    await vi.waitFor(async () => expect(await first.getExecution('id-1')).toMatchObject({ status: 'running' }));
    const client = new AbortController();
    const repeat = executor(() => ({}), { sleep: async () => client.abort(new Error('gone')) });
    await expect(repeat.execute(skill, {}, contextOf({ signal: client.signal }))).rejects.toThrow('gone');
    finish.resolve({});
    expect(await running).toMatchObject({ status: 'success' });
  });
});

describe('switches', () => {
  it('a skill that was switched off since it was loaded does not run', async () => {
    const { executor, executions, skill, db } = await createFixture();
    await db.update(skills).set({ enabled: false, mode: 'off' }).where(eq(skills.id, skill.id));
    const { execute, park } = executor(() => ({}));
    const refusal = { code: 'skill_off', message: 'Skill weather@1.0.0 is off' };
    await expect(execute(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    await expect(execute(skill, { fault: 'no' }, contextOf())).rejects.toMatchObject(refusal);
    await expect(park(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    expect(await executions.count({})).toBe(0);
  });

  it('a skill that was deleted does not run', async () => {
    const { executor, skill, db } = await createFixture();
    await db.delete(skills).where(eq(skills.id, skill.id));
    await expect(executor(() => ({})).execute(skill, {}, contextOf())).rejects.toMatchObject({
      code: 'skill_not_found',
      message: 'Skill weather@1.0.0 is no longer installed',
    });
  });

  it('nothing runs while the master switch is off', async () => {
    const { executor, executions, skill, setMaster } = await createFixture();
    const { execute, park } = executor(() => ({ success: true }));
    await setMaster(false);
    const refusal = { code: 'skills_disabled', message: 'Skills execution is disabled. Enable Skills in Settings > AI.' };
    await expect(execute(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    await expect(park(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    expect(await executions.count({})).toBe(0);
    await setMaster(true);
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'success' });
  });
});

describe('a database that fails', () => {
  it('before the run: nothing runs', async () => {
    const { executor, skill, database } = await createFixture();
    let runs = 0;
    const { execute, park, findDecision } = executor(() => ({ runs: ++runs }));
    await database.close();
    const refusal = { code: 'database_unavailable', message: 'The database cannot be reached' };
    await expect(execute(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    await expect(park(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    await expect(findDecision(skill, {}, contextOf())).rejects.toMatchObject(refusal);
    expect(runs).toBe(0);
  });

  it('during the run: the result is returned all the same, after a few tries to write it', async () => {
    const { executor, skill, database, lines, sleeps } = await createFixture();
    const { execute } = executor(async () => {
      await database.close();
      return { success: true };
    });
    expect(await execute(skill, {}, contextOf())).toMatchObject({ status: 'success', output: { success: true } });
    expect(sleeps).toEqual([200, 400, 800]);
    expect(lines.filter(({ event, fields }) => event === 'skills.executor.write_failed' && fields.tries !== undefined)).toHaveLength(4);
  });
});

describe('the rest of its interface', () => {
  it('reads, lists and counts executions, newest first', async () => {
    const { executor, skill, clock } = await createFixture();
    const { execute, getExecution, listExecutions, countExecutions } = executor(() => ({}));
    for (const callId of ['a', 'b', 'c']) {
      await execute(skill, {}, contextOf({ callId }));
      clock.ms += 1;
    }
    await execute(skill, {}, contextOf({ apiKeyId: 'key-2' }));
    expect((await listExecutions('key-1', 2, 0)).map(({ callId }) => callId)).toEqual(['c', 'b']);
    expect((await listExecutions('key-1', 2, 2)).map(({ callId }) => callId)).toEqual(['a']);
    expect((await listExecutions(undefined, 10, 0)).map(({ apiKeyId }) => apiKeyId)).toEqual(['key-2', 'key-1', 'key-1', 'key-1']);
    expect([await countExecutions('key-1'), await countExecutions('key-2'), await countExecutions()]).toEqual([3, 1, 4]);
    expect(await getExecution('id-1')).toMatchObject({ callId: 'a' });
    expect(await getExecution('id-1', 'key-2')).toBeUndefined();
  });

  it('makes a handler known where runnables look it up', async () => {
    const { executor, skill } = await createFixture();
    const handlers: ExecutorDependencies['handlers'] = new Map();
    const { execute, registerHandler } = executor(() => ({}), {
      handlers,
      runnableFor: ({ handler }) => ({
        parse: (data) => ({ success: true, data }),
        isReadOnly: () => false,
        run: (data, context) => handlers.get(handler)?.run(data as JsonObject, context) ?? Promise.reject(new Error(`no ${handler}`)),
      }),
    });
    registerHandler('weather', async (input) => ({ told: input }));
    expect(await execute(skill, { city: 'Oslo' }, contextOf())).toMatchObject({ output: { told: { city: 'Oslo' } } });
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses the timeout %s', async (ms) => {
    const { executor } = await createFixture();
    expect(() => executor(() => ({})).setTimeout(ms)).toThrow('The timeout must be a whole number of milliseconds above 0');
  });

  it.each([-1, 0.5, Number.NaN])('refuses %s retries', async (count) => {
    const { executor } = await createFixture();
    expect(() => executor(() => ({})).setMaxRetries(count)).toThrow('The number of retries must be a whole number, 0 or more');
  });
});
