import { onTestFinished } from 'vitest';
import { createApprovalRepository } from '../../src/db/approval-repository.ts';
import { createExecutionRepository } from '../../src/db/execution-repository.ts';
import { settings, skills } from '../../src/db/schema.ts';
import { createExecutor, type ExecutorDependencies } from '../../src/execution/create-executor.ts';
import type { ExecuteContext } from '../../src/execution/executor.ts';
import type { Runnable } from '../../src/execution/runnable.ts';
import { isJsonObject, type JsonObject } from '../../src/json.ts';
import type { SkillContext } from '../../src/skills/define.ts';
import type { Skill } from '../../src/skills/skill.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';
import { createSkillContext } from '../support/skill-context.ts';

export const T0 = Date.parse('2026-01-01T00:00:00.000Z');

export type Run = (input: JsonObject, context: SkillContext) => unknown;

export interface LogLine {
  level: string;
  event: string;
  fields: Record<string, unknown>;
}

/** A database of its own with one skill in it, a clock that moves by hand and by sleeping, and any number of executors on it. */
export async function createFixture(skillChanges: Partial<Skill> = {}) {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const { db } = database;
  const clock = { ms: T0 };
  const now = () => new Date(clock.ms);
  const sleeps: number[] = [];
  const lines: LogLine[] = [];
  const logAs =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      void lines.push({ level, event, fields });
  const executions = createExecutionRepository(db);
  const approvals = createApprovalRepository(db);
  const skill = makeSkill({ handler: 'weather', ...skillChanges });
  await db.insert(skills).values({ ...skill, modeWhenEnabled: 'on' });
  let ids = 0;

  /** Objects fit every skill here, unless they have a member named `fault`. */
  const runnable = (run: Run): Runnable => ({
    isReadOnly: () => false,
    parse: (input) =>
      isJsonObject(input) && typeof input.fault !== 'string'
        ? { success: true, data: input }
        : { success: false, error: isJsonObject(input) ? String(input.fault) : 'Expected an object' },
    run: async (data, context) => (await run(data as JsonObject, context)) as JsonObject,
  });

  return {
    database,
    db,
    skill,
    clock,
    now,
    sleeps,
    lines,
    executions,
    approvals,
    executor: (run: Run, changes: Partial<ExecutorDependencies> = {}) =>
      createExecutor({
        executions,
        approvals,
        runnableFor: () => runnable(run),
        contextFor: ({ apiKeyId, sessionId, id }, signal) => createSkillContext({ apiKeyId, sessionId, executionId: id, signal }),
        now,
        handlers: new Map(),
        newId: () => {
          ids += 1;
          return `id-${ids}`;
        },
        random: () => 0,
        sleep: async (ms) => {
          sleeps.push(ms);
          clock.ms += ms;
        },
        log: { info: logAs('info'), warn: logAs('warn'), error: logAs('error') },
        ...changes,
      }),
    insertSkill: (other: Skill) => db.insert(skills).values({ ...other, modeWhenEnabled: 'on' }),
    setMaster: (isOn: boolean) =>
      db
        .insert(settings)
        .values({ key: 'skillsEnabled', value: isOn, updatedAt: now().toISOString() })
        .onConflictDoUpdate({ target: settings.key, set: { value: isOn } }),
  };
}

export const contextOf = (changes: Partial<ExecuteContext> = {}): ExecuteContext => ({
  apiKeyId: 'key-1',
  sessionId: 'session-1',
  requestId: 'request-1',
  callId: 'call-1',
  signal: new AbortController().signal,
  ...changes,
});
