import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { createExecutionRepository } from '../../src/db/execution-repository.ts';
import { skillExecutions, skills } from '../../src/db/schema.ts';
import type { Outcome } from '../../src/execution/execution-store.ts';
import { newExecution } from '../../src/execution/new-execution.ts';
import { contextOf, createFixture, T0 } from '../execution/executor-fixture.ts';
import { makeSkill } from '../support/make-skill.ts';

const at = (ms: number) => new Date(T0 + ms).toISOString();

const outcome: Outcome = {
  status: 'success',
  output: { success: true },
  errorMessage: null,
  durationMs: 7,
  attempts: 1,
  sandboxId: 'http://sandbox-1',
  startedAt: at(1),
  finishedAt: at(8),
};

async function createRepository() {
  const { db, skill, insertSkill, setMaster, approvals } = await createFixture();
  const executions = createExecutionRepository(db);
  const row = (
    id: string,
    changes: { callId?: string; apiKeyId?: string; createdMs?: number; leaseMs?: number | null } = {},
    of = skill,
  ) => {
    const { callId = id, apiKeyId = 'key-1', createdMs = 0, leaseMs = 1_000 } = changes;
    const leaseExpiresAt = leaseMs === null ? null : new Date(T0 + leaseMs);
    return newExecution(of, { id: callId }, contextOf({ callId, apiKeyId }), { id, createdAt: new Date(T0 + createdMs), leaseExpiresAt });
  };
  return { db, skill, insertSkill, setMaster, approvals, executions, row };
}

describe('claim', () => {
  it('inserts the row as it stands', async () => {
    const { executions, row } = await createRepository();
    const claimed = row('a');
    expect(await executions.claim(claimed)).toEqual({ execution: claimed, repeated: false });
    expect(await executions.get('a')).toEqual(claimed);
  });

  it('is given to one of many that ask at the same time', async () => {
    const { executions, row } = await createRepository();
    const claims = await Promise.all(Array.from({ length: 8 }, (_, index) => executions.claim(row(`id-${index}`, { callId: 'same' }))));
    expect(claims.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(claims.map(({ execution }) => execution.id)).size).toBe(1);
  });

  it('gives a free claim to one of many that ask at the same time', async () => {
    const { executions, row } = await createRepository();
    await executions.claim(row('old', { callId: 'same', leaseMs: null }));
    await executions.finish('old', outcome);
    const claims = await Promise.all(Array.from({ length: 4 }, (_, index) => executions.claim(row(`id-${index}`, { callId: 'same' }))));
    expect(claims.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(claims.map(({ execution }) => execution.id)).size).toBe(1);
  });

  it.each([
    ['a mode of auto', { mode: 'auto' as const }, true],
    ['a mode of off', { mode: 'off' as const, enabled: false }, false],
  ])('heeds %s', async (_, changes, mayRun) => {
    const { executions, row, insertSkill } = await createRepository();
    const other = makeSkill({ name: 'other', ...changes });
    await insertSkill(other);
    const claim = executions.claim(row('a', {}, other));
    if (mayRun) expect(await claim).toMatchObject({ repeated: false });
    else await expect(claim).rejects.toMatchObject({ code: 'skill_off', message: 'Skill other@1.0.0 is off' });
  });

  it('tells the master switch before the skill that is off', async () => {
    const { executions, row, db, skill, setMaster } = await createRepository();
    await setMaster(false);
    await db.delete(skills).where(eq(skills.id, skill.id));
    await expect(executions.claim(row('a'))).rejects.toMatchObject({ code: 'skills_disabled' });
  });

  it('stands for a skill that has been deleted since: name, version and result are kept', async () => {
    const { executions, row, db, skill } = await createRepository();
    await executions.claim(row('a'));
    await executions.finish('a', outcome);
    await db.delete(skills).where(eq(skills.id, skill.id));
    expect(await executions.claim(row('b', { callId: 'a' }))).toMatchObject({
      repeated: true,
      execution: { id: 'a', skillId: null, skillName: 'weather', skillVersion: '1.0.0', output: { success: true } },
    });
  });

  it('is refused for an approval that does not exist', async () => {
    const { executions, row } = await createRepository();
    await expect(executions.claim(row('a'), { id: 'nobody', inputSha256: '0' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await executions.count({})).toBe(0);
  });
});

describe('the life of a row', () => {
  it('moves forward only, and never changes once it is finished', async () => {
    const { executions, row } = await createRepository();
    await executions.claim(row('a'));
    expect(await executions.start('a', { attempts: 1, sandboxId: null, startedAt: at(1), leaseExpiresAt: at(2_000) })).toBe(true);
    expect(await executions.get('a')).toMatchObject({ status: 'running', attempts: 1, startedAt: at(1), leaseExpiresAt: at(2_000) });
    expect(await executions.finish('a', outcome)).toBe(true);
    const finished = await executions.get('a');
    expect(finished).toMatchObject(outcome);
    expect(await executions.start('a', { attempts: 2, sandboxId: null, startedAt: at(3), leaseExpiresAt: at(9_000) })).toBe(false);
    expect(await executions.finish('a', { ...outcome, status: 'error', errorMessage: 'late' })).toBe(false);
    expect(await executions.interrupt('a', new Date(T0 + 10_000))).toEqual(finished);
    expect(await executions.recoverLeases(new Date(T0 + 10_000))).toBe(0);
    expect(await executions.get('a')).toEqual(finished);
  });

  it('may end before its start was written', async () => {
    const { executions, row } = await createRepository();
    await executions.claim(row('a'));
    expect(await executions.finish('a', outcome)).toBe(true);
    expect(await executions.start('a', { attempts: 1, sandboxId: null, startedAt: at(1), leaseExpiresAt: at(2_000) })).toBe(false);
    expect(await executions.get('a')).toMatchObject(outcome);
  });

  it('knows no row that is not there', async () => {
    const { executions } = await createRepository();
    expect(await executions.start('x', { attempts: 1, sandboxId: null, startedAt: at(0), leaseExpiresAt: at(1) })).toBe(false);
    expect(await executions.finish('x', outcome)).toBe(false);
    expect(await executions.interrupt('x', new Date(T0))).toBeUndefined();
    expect(await executions.get('x')).toBeUndefined();
  });

  it('refuses a status that does not exist', async () => {
    const { executions, row, db } = await createRepository();
    await executions.claim(row('a'));
    const broken = db
      .update(skillExecutions)
      .set({ status: 'done' as 'success' })
      .where(eq(skillExecutions.id, 'a'));
    await expect(Promise.resolve(broken)).rejects.toThrow(/CHECK constraint/);
  });
});

describe('leases', () => {
  it('interrupts what is over, pending or running, and leaves the rest', async () => {
    const { executions, row } = await createRepository();
    await executions.claim(row('pending', { leaseMs: 100 }));
    await executions.claim(row('running', { leaseMs: 50 }));
    await executions.start('running', { attempts: 1, sandboxId: null, startedAt: at(40), leaseExpiresAt: at(100) });
    await executions.claim(row('alive', { leaseMs: 101 }));
    await executions.claim(row('parked', { leaseMs: null }));
    expect(await executions.recoverLeases(new Date(T0 + 99))).toBe(0);
    expect(await executions.recoverLeases(new Date(T0 + 100))).toBe(2);
    const ended = { status: 'error', errorMessage: 'interrupted', finishedAt: at(100) };
    expect(await executions.get('pending')).toMatchObject({ ...ended, durationMs: 100 });
    expect(await executions.get('running')).toMatchObject({ ...ended, durationMs: 60 });
    expect(await executions.get('alive')).toMatchObject({ status: 'pending' });
    expect(await executions.get('parked')).toMatchObject({ status: 'pending' });
    expect(await executions.finish('running', outcome)).toBe(false);
    expect(await executions.get('running')).toMatchObject(ended);
  });

  it('interrupts one row only when its lease is over', async () => {
    const { executions, row } = await createRepository();
    await executions.claim(row('a', { leaseMs: 100 }));
    await executions.claim(row('b', { leaseMs: 100 }));
    expect(await executions.interrupt('a', new Date(T0 + 99))).toMatchObject({ status: 'pending' });
    expect(await executions.interrupt('a', new Date(T0 + 100))).toMatchObject({ status: 'error', errorMessage: 'interrupted' });
    expect(await executions.get('b')).toMatchObject({ status: 'pending' });
  });
});

describe('reading', () => {
  async function createHistory() {
    const repository = await createRepository();
    const { executions, row, insertSkill } = repository;
    const other = makeSkill({ name: 'maps', version: '2.1.0' });
    await insertSkill(other);
    await executions.claim(row('a', { createdMs: 1 }));
    await executions.claim(row('b', { createdMs: 2 }));
    await executions.claim(row('c', { createdMs: 3, apiKeyId: 'key-2' }));
    await executions.claim(row('d', { createdMs: 3 }, other));
    await executions.finish('b', { ...outcome, status: 'timeout', errorMessage: 'Timed out after 1 ms', output: null });
    return { ...repository, other };
  }

  it('filters, newest first', async () => {
    const { executions, skill, other } = await createHistory();
    const cases = [
      [{}, 'dcba'],
      [{ apiKeyId: 'key-1' }, 'dba'],
      [{ skill: 'weather' }, 'cba'],
      [{ skill: 'maps@2.1.0' }, 'd'],
      [{ skill: 'maps@2.1.1' }, ''],
      [{ skill: skill.id }, 'cba'],
      [{ skill: other.id, apiKeyId: 'key-1' }, 'd'],
      [{ status: 'timeout' }, 'b'],
      [{ from: at(2) }, 'dcb'],
      [{ to: at(2) }, 'a'],
      [{ from: at(2), to: at(3) }, 'b'],
    ] as const;
    for (const [filter, ids] of cases) {
      expect((await executions.list(filter, 50, 0)).map(({ id }) => id).join('')).toBe(ids);
      expect(await executions.count(filter)).toBe(ids.length);
    }
  });

  it('pages with the total', async () => {
    const { executions } = await createHistory();
    const page = async (number: number) => {
      const { data, total } = await executions.listPage({ apiKeyId: 'key-1' }, number, 2, 1_000);
      return [data.map(({ id }) => id).join(''), total];
    };
    expect([await page(1), await page(2), await page(3)]).toEqual([
      ['db', 3],
      ['a', 3],
      ['', 3],
    ]);
  });

  it('leaves out of a brief list what is too long for it, and only that', async () => {
    const { executions } = await createHistory();
    await executions.finish('a', { ...outcome, output: { text: 'é'.repeat(50) } });
    const listed = async (maxValueBytes: number) =>
      (await executions.listBrief({ skill: 'weather', apiKeyId: 'key-1' }, 50, maxValueBytes)).map(({ id, input, output, omitted }) => [
        ...[id, input, output, omitted],
      ]);
    const whole = await executions.list({ skill: 'weather', apiKeyId: 'key-1' }, 50, 0);
    expect(await listed(111)).toEqual(whole.map(({ id, input, output }) => [id, input, output, []]));
    expect(await listed(110)).toEqual([
      ['b', whole[0]?.input, null, []],
      ['a', whole[1]?.input, null, ['output']],
    ]);
    expect((await listed(1)).map(([, input, , omitted]) => [input, omitted])).toEqual([
      [null, ['input']],
      [null, ['input', 'output']],
    ]);
    expect(await executions.listBrief({}, 1, 1)).toHaveLength(1);
  });

  it('finds the newest call of an id that has not ended, among any number of others', async () => {
    const { executions, row } = await createRepository();
    const others = Array.from({ length: 210 }, (_, index) => executions.claim(row(`other-${index}`, { createdMs: 10 + index })));
    await Promise.all(others);
    for (const [id, createdMs] of [
      ['ended', 3],
      ['old', 1],
      ['new', 2],
    ] as const) {
      await executions.claim({ ...row(id, { callId: 'call', createdMs }), requestId: id });
    }
    await executions.claim({ ...row('foreign', { callId: 'call', createdMs: 4, apiKeyId: 'key-2' }) });
    await executions.finish('ended', outcome);
    expect(await executions.findUnfinished('key-1', 'call')).toEqual({
      ...{ id: 'new', attempts: 0, sandboxId: null, createdAt: at(2), startedAt: null, leaseExpiresAt: at(1_000), approvalId: null },
    });
    expect(await executions.findUnfinished('key-1', 'nothing')).toBeUndefined();
    expect([await executions.statusOf('new'), await executions.statusOf('ended'), await executions.statusOf('x')]).toEqual([
      ...['pending', 'success', undefined],
    ]);
  });

  it('shows a row to its owner only', async () => {
    const { executions } = await createHistory();
    expect(await executions.get('a', 'key-1')).toMatchObject({ id: 'a' });
    expect(await executions.get('a', 'key-2')).toBeUndefined();
  });
});

describe('retention', () => {
  it('deletes finished rows older than the cutoff, in as many steps as it takes', async () => {
    const { executions, row, db } = await createRepository();
    const many = Array.from({ length: 1_001 }, (_, index) => ({ ...row(`old-${index}`), ...outcome }));
    for (let start = 0; start < many.length; start += 500) await db.insert(skillExecutions).values(many.slice(start, start + 500));
    await executions.claim(row('unfinished'));
    await executions.claim(row('young', { createdMs: 1 }));
    await executions.finish('young', outcome);
    expect(await executions.deleteOlderThan(new Date(T0 + 1))).toBe(1_001);
    expect((await executions.list({}, 10, 0)).map(({ id }) => id)).toEqual(['young', 'unfinished']);
    expect(await executions.deleteOlderThan(new Date(T0 + 1))).toBe(0);
  });
});
