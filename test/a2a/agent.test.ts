import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type A2AAnswer, type A2ASkillContext, createA2ASkillRegistry } from '../../src/a2a/a2a-skill.ts';
import { createAgent } from '../../src/a2a/agent.ts';
import type { TaskEvent } from '../../src/a2a/task.ts';
import { MAX_TASKS_PER_KEY } from '../../src/a2a/task-store.ts';
import { watchTask } from '../../src/a2a/watch-task.ts';
import { createA2ATaskRepository } from '../../src/db/a2a-task-repository.ts';
import { AppError } from '../../src/errors.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const caller = { apiKeyId: 'key', remembersOutcomes: false };

function open(execute: () => Promise<A2AAnswer>) {
  const skills = createA2ASkillRegistry();
  skills.register({ id: 'work', name: 'Work', description: 'Works', tags: [], examples: [], input: z.looseObject({}), execute });
  const { log, entries } = collectLog();
  const tasks = createA2ATaskRepository(database.db, { now: () => new Date() });
  const contextFor = () => ({}) as A2ASkillContext;
  const agent = createAgent({ tasks, skills, contextFor, now: () => new Date(), newId: () => crypto.randomUUID(), log });
  const submit = (taskId?: string) =>
    agent.submit(
      {
        message: { messageId: 'm', parts: [{ kind: 'text', text: 'go' }], taskId, contextId: undefined },
        ...{ skill: undefined, waits: true, historyLength: undefined },
      },
      caller,
    );
  return { agent, tasks, skills, entries, submit };
}

const stepsOf = (events: readonly TaskEvent[]) => events.map(({ kind, task }) => `${kind} ${task.state}`);

describe('a task that is worked on', () => {
  it('can be canceled, and what comes of it then is dropped', async () => {
    const work = Promise.withResolvers<A2AAnswer>();
    const { agent, submit } = open(() => work.promise);
    const { task, run } = await submit();
    const events: TaskEvent[] = [];
    const running = run((event) => events.push(event));
    await expect.poll(() => stepsOf(events)).toContain('status working');
    await expect(submit(task.id)).rejects.toMatchObject({ message: `Task ${task.id} is working and takes no messages`, code: -32004 });
    expect((await agent.cancel(task.id, caller)).state).toBe('canceled');
    work.resolve({ text: 'late', data: {} });
    expect((await running).state).toBe('canceled');
    expect(stepsOf(events)).toEqual(['task submitted', 'status working', 'status canceled']);
    expect(await agent.get(task.id, caller)).toMatchObject({ state: 'canceled', artifacts: [] });
  });

  it('is not begun when it was canceled before', async () => {
    let runs = 0;
    const { agent, submit } = open(async () => {
      runs += 1;
      return { text: '', data: {} };
    });
    const { task, run } = await submit();
    await agent.cancel(task.id, caller);
    expect((await run(() => {})).state).toBe('canceled');
    expect(runs).toBe(0);
  });

  it('is told of to who comes later, as it goes on', async () => {
    const work = Promise.withResolvers<A2AAnswer>();
    const { agent, submit } = open(() => work.promise);
    const { task, run } = await submit();
    const running = run(() => {});
    await expect.poll(async () => (await agent.get(task.id, caller)).state).toBe('working');
    const events: TaskEvent[] = [];
    const emit = (event: TaskEvent) => void events.push(event);
    const watching = watchTask(agent, await agent.get(task.id, caller), caller, {
      emit,
      finishes: true,
      signal: new AbortController().signal,
    });
    work.resolve({ text: 'done', data: { ok: true } });
    await Promise.all([running, watching]);
    expect(stepsOf(events)).toEqual(['task working', 'artifact completed', 'status completed']);
  });

  it('is watched without a listener left behind by each look', async () => {
    const { agent, submit } = open(async () => ({ text: 'done', data: {} }));
    const { task, run } = await submit();
    const { signal } = new AbortController();
    let looks = 0;
    const get: typeof agent.get = async (...parameters) => {
      looks += 1;
      if (looks === 2) await run(() => {});
      return agent.get(...parameters);
    };
    await watchTask({ get }, task, caller, { emit() {}, finishes: true, signal });
    expect([looks, getEventListeners(signal, 'abort').length]).toEqual([2, 0]);
  });

  it('is watched no longer than its reader stays', async () => {
    const work = Promise.withResolvers<A2AAnswer>();
    const { agent, submit } = open(() => work.promise);
    const { task, run } = await submit();
    const running = run(() => {});
    const left = new AbortController();
    const watching = watchTask(agent, task, caller, { emit() {}, finishes: true, signal: left.signal });
    left.abort();
    await watching;
    work.resolve({ text: '', data: {} });
    await running;
  });

  it.each([
    [new TypeError('secret stuff'), 'The skill failed unexpectedly', 1],
    [new AppError('database_unavailable', 'The database cannot be reached'), 'The database cannot be reached', 0],
  ])('fails when its skill throws %s', async (error, statusText, logged) => {
    const { submit, entries } = open(() => Promise.reject(error));
    const { run } = await submit();
    expect(await run(() => {})).toMatchObject({ state: 'failed', statusText, artifacts: [] });
    expect(entries.filter(({ event }) => event === 'a2a.skill.failed')).toHaveLength(logged);
    expect(JSON.stringify(entries)).not.toContain('secret stuff');
  });
});

describe('a task that waits for its text', () => {
  it('takes data beside it, up to a bound over all messages', async () => {
    const { agent, skills } = open(async () => ({ text: '', data: {} }));
    const input = z.looseObject({ what: z.string() });
    const answer = async () => ({ text: '', data: {} });
    skills.register({ id: 'ask', name: 'Ask', description: 'Asks', tags: [], examples: [], input, textField: 'what', execute: answer });
    const send = async (field: string, taskId?: string) => {
      const data = { [field]: 'x'.repeat(30_000) };
      const message = { messageId: field, parts: [{ kind: 'data' as const, data }], taskId, contextId: undefined };
      const { run } = await agent.submit({ message, skill: 'ask', waits: true, historyLength: undefined }, caller);
      return run(() => {});
    };
    const { id, state } = await send('first');
    expect(state).toBe('input-required');
    expect((await send('second', id)).state).toBe('input-required');
    await expect(send('third', id)).rejects.toMatchObject({
      code: -32602,
      message: 'ask: The input exceeds the limit of 65536 characters',
    });
    expect(Object.keys((await agent.get(id, caller)).input)).toEqual(['first', 'second']);
  });
});

it('knows a skill once', () => {
  const { skills } = open(async () => ({ text: '', data: {} }));
  expect(() => skills.register(skills.list()[0] as never)).toThrow('The A2A skill work is registered twice');
});

it('keeps the newest tasks of a key, within its bound', async () => {
  await database.client.execute(`INSERT INTO a2a_tasks (id, api_key_id, context_id, state, task, created_at, updated_at, expires_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MAX_TASKS_PER_KEY + 5})
    SELECT 'old-' || n, 'key', 'c', 'completed', '{}', '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z' FROM numbers`);
  const { tasks, submit } = open(async () => ({ text: '', data: {} }));
  const { task } = await submit();
  const { tasks: newest, total } = await tasks.list('key', { limit: 1 });
  expect([newest[0]?.id, total]).toEqual([task.id, MAX_TASKS_PER_KEY]);
});
