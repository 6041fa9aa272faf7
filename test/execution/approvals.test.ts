import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { approvals as approvalsTable, skills } from '../../src/db/schema.ts';
import { digestInput } from '../../src/execution/digest-input.ts';
import { makeSkill } from '../support/make-skill.ts';
import { contextOf, createFixture, T0 } from './executor-fixture.ts';

const MINUTE_MS = 60_000;
const at = (ms: number) => new Date(T0 + ms).toISOString();
const next = (call: number) => contextOf({ requestId: `request-${call}`, callId: `call-${call}`, sessionId: `session-${call}` });

async function createHybrid() {
  const fixture = await createFixture({ policy: 'hybrid' });
  let runs = 0;
  const executor = fixture.executor(() => ({ success: true, runs: ++runs }));
  return { ...fixture, executor, runs: () => runs };
}

describe('parking', () => {
  it('stores the execution as pending, without a lease, and an approval for a quarter of an hour', async () => {
    const { executor, executions, approvals, db, skill, runs } = await createHybrid();
    const parked = await executor.park(skill, { b: 1, a: [2] }, contextOf());
    expect(parked).toMatchObject({ expiresAt: at(15 * MINUTE_MS), execution: { status: 'pending', leaseExpiresAt: null, attempts: 0 } });
    expect(await executions.get(parked.execution.id)).toEqual(parked.execution);
    expect(await approvals.get(parked.approvalId)).toEqual({
      id: parked.approvalId,
      apiKeyId: 'key-1',
      skillId: skill.id,
      skillName: 'weather',
      skillVersion: '1.0.0',
      input: { b: 1, a: [2] },
      sessionId: 'session-1',
      status: 'pending',
      createdAt: at(0),
      expiresAt: at(15 * MINUTE_MS),
      executionId: parked.execution.id,
    });
    const [row] = await db.select().from(approvalsTable);
    expect(row?.inputSha256).toBe(await digestInput({ a: [2], b: 1 }));
    expect(runs()).toBe(0);
  });

  it('gives the waiting approval to every identical call of the same owner, and to nobody else', async () => {
    const { executor, executions, skill } = await createHybrid();
    const parked = await executor.park(skill, { a: 1, b: 2 }, next(1));
    expect(await executor.park(skill, { b: 2, a: 1 }, next(2))).toEqual(parked);
    const others = [
      await executor.park(skill, { a: 1, b: 3 }, next(3)),
      await executor.park(skill, { a: 1, b: 2 }, { ...next(4), apiKeyId: 'key-2' }),
    ];
    expect(new Set([parked, ...others].map(({ approvalId }) => approvalId)).size).toBe(3);
    expect(await executions.count({ status: 'pending' })).toBe(3);
  });

  it('refuses an input that does not fit', async () => {
    const { executor, executions, skill } = await createHybrid();
    await expect(executor.park(skill, { fault: 'city: Expected string' }, contextOf())).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'city: Expected string',
    });
    expect(await executions.count({})).toBe(0);
  });

  it('is a conflict under a claim that was used for a run', async () => {
    const { executor, skill } = await createHybrid();
    await executor.execute(skill, {}, contextOf());
    await expect(executor.park(skill, {}, contextOf())).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: 'This call was already made under the same idempotency key and call id',
    });
    await expect(executor.park(skill, { other: true }, contextOf())).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it('is refused for a skill that was switched off, even when the call waits already', async () => {
    const { executor, skill, db, setMaster } = await createHybrid();
    await executor.park(skill, {}, next(1));
    await setMaster(false);
    await expect(executor.park(skill, {}, next(1))).rejects.toMatchObject({ code: 'skills_disabled' });
    await setMaster(true);
    await db.update(skills).set({ enabled: false, mode: 'off' }).where(eq(skills.id, skill.id));
    for (const call of [1, 2]) await expect(executor.park(skill, {}, next(call))).rejects.toMatchObject({ code: 'skill_off' });
  });

  it('keeps the parked call from running without its approval', async () => {
    const { executor, skill, runs } = await createHybrid();
    await executor.park(skill, {}, contextOf());
    await expect(executor.execute(skill, {}, contextOf())).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: 'This call waits for its approval',
    });
    expect(runs()).toBe(0);
  });
});

describe('an approved call', () => {
  it('runs once, in the row that was parked', async () => {
    const { executor, executions, approvals, skill, now, runs, clock } = await createHybrid();
    const { approvalId, execution } = await executor.park(skill, { a: 1 }, next(1));
    expect(await executor.findDecision(skill, { a: 1 }, next(2))).toBeUndefined();
    clock.ms += MINUTE_MS;
    expect(await approvals.decide(approvalId, 'approved', now())).toMatchObject({ id: approvalId, status: 'approved' });
    expect(await executor.findDecision(skill, { a: 2 }, next(2))).toBeUndefined();
    expect(await executor.findDecision(skill, { a: 1 }, { ...next(2), apiKeyId: 'key-2' })).toBeUndefined();
    expect(await executor.findDecision(skill, { a: 1 }, next(2))).toMatchObject({ id: approvalId, status: 'approved' });

    const ran = await executor.execute(skill, { a: 1 }, { ...next(2), approvalId });
    expect(ran).toMatchObject({
      id: execution.id,
      requestId: 'request-2',
      callId: 'call-2',
      sessionId: 'session-2',
      status: 'success',
      createdAt: at(0),
      startedAt: at(MINUTE_MS),
      output: { runs: 1 },
    });
    expect(await executions.get(execution.id)).toEqual(ran);
    expect(await executions.count({})).toBe(1);
    expect(await approvals.get(approvalId)).toMatchObject({ status: 'used' });

    // The same claim again gets the stored result; any other call needs an approval of its own.
    expect(await executor.findDecision(skill, { a: 1 }, next(2))).toMatchObject({ id: approvalId, status: 'used' });
    expect(await executor.execute(skill, { a: 1 }, { ...next(2), approvalId })).toEqual(ran);
    expect(await executor.findDecision(skill, { a: 1 }, next(3))).toBeUndefined();
    await expect(executor.execute(skill, { a: 1 }, { ...next(3), approvalId })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The approval is not for this call, was used, or has expired',
    });
    expect(runs()).toBe(1);
    expect((await executor.park(skill, { a: 1 }, next(3))).approvalId).not.toBe(approvalId);
  });

  it('runs once when two calls use it at the same time', async () => {
    const { executor, approvals, skill, now, runs } = await createHybrid();
    const { approvalId } = await executor.park(skill, {}, next(1));
    await approvals.decide(approvalId, 'approved', now());
    const results = await Promise.allSettled([2, 3].map((call) => executor.execute(skill, {}, { ...next(call), approvalId })));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(runs()).toBe(1);
  });

  it('may be the parked call itself, when its request is sent again', async () => {
    const { executor, approvals, skill, now } = await createHybrid();
    const { approvalId, execution } = await executor.park(skill, {}, next(1));
    await approvals.decide(approvalId, 'approved', now());
    expect(await executor.execute(skill, {}, { ...next(1), approvalId })).toMatchObject({ id: execution.id, status: 'success' });
  });

  it('does not run under a claim that something else holds', async () => {
    const { executor, approvals, skill, now } = await createHybrid();
    const { approvalId } = await executor.park(skill, { a: 1 }, next(1));
    await approvals.decide(approvalId, 'approved', now());
    await executor.execute(skill, { other: true }, next(2));
    await expect(executor.execute(skill, { a: 1 }, { ...next(2), approvalId })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await approvals.get(approvalId)).toMatchObject({ status: 'approved' });
  });

  it.each([
    ['another input', { input: { a: 2 } }],
    ['another owner', { apiKeyId: 'key-2' }],
    ['another skill', { version: '2.0.0' }],
    ['an approval that is not decided', { undecided: true }],
    ['an approval that has expired', { waitMs: 15 * MINUTE_MS }],
  ])(
    'does not run with %s',
    async (_, difference: { input?: { a: number }; apiKeyId?: string; version?: string; undecided?: boolean; waitMs?: number }) => {
      const { executor, approvals, skill, now, clock, insertSkill, runs } = await createHybrid();
      const { approvalId } = await executor.park(skill, { a: 1 }, next(1));
      if (!difference.undecided) await approvals.decide(approvalId, 'approved', now());
      clock.ms += difference.waitMs ?? 0;
      const other = difference.version ? makeSkill({ version: difference.version }) : skill;
      if (other !== skill) await insertSkill(other);
      const context = { ...next(2), approvalId, apiKeyId: difference.apiKeyId ?? 'key-1' };
      await expect(executor.execute(other, difference.input ?? { a: 1 }, context)).rejects.toMatchObject({ code: 'conflict' });
      expect(runs()).toBe(0);
    },
  );

  it('does not run once the skill is off, nor while the master switch is, and keeps its approval', async () => {
    const { executor, approvals, skill, now, setMaster, db } = await createHybrid();
    const { approvalId } = await executor.park(skill, {}, next(1));
    await approvals.decide(approvalId, 'approved', now());
    await setMaster(false);
    await expect(executor.execute(skill, {}, { ...next(2), approvalId })).rejects.toMatchObject({ code: 'skills_disabled' });
    await setMaster(true);
    await db.update(skills).set({ enabled: false, mode: 'off' }).where(eq(skills.id, skill.id));
    await expect(executor.execute(skill, {}, { ...next(2), approvalId })).rejects.toMatchObject({ code: 'skill_off' });
    await db.update(skills).set({ enabled: true, mode: 'on' }).where(eq(skills.id, skill.id));
    expect(await executor.execute(skill, {}, { ...next(2), approvalId })).toMatchObject({ status: 'success' });
  });
});

describe('deciding', () => {
  it('a denial ends the parked execution and is what the next identical call hears', async () => {
    const { executor, executions, approvals, skill, now, clock, runs } = await createHybrid();
    const { approvalId, execution } = await executor.park(skill, {}, next(1));
    clock.ms += 5;
    await approvals.decide(approvalId, 'denied', now());
    expect(await executions.get(execution.id)).toMatchObject({
      status: 'error',
      errorMessage: 'The user declined',
      durationMs: 0,
      finishedAt: at(5),
    });
    expect(await executor.findDecision(skill, {}, next(2))).toMatchObject({ id: approvalId, status: 'denied' });
    await expect(executor.execute(skill, {}, { ...next(2), approvalId })).rejects.toMatchObject({ code: 'conflict' });
    clock.ms = T0 + 15 * MINUTE_MS;
    expect(await executor.findDecision(skill, {}, next(2))).toBeUndefined();
    expect(runs()).toBe(0);
  });

  it('may be said again, but not otherwise, nor too late, nor by another owner', async () => {
    const { executor, approvals, skill, now, clock } = await createHybrid();
    const first = await executor.park(skill, { a: 1 }, next(1));
    const second = await executor.park(skill, { a: 2 }, next(2));
    const denied = await approvals.decide(first.approvalId, 'denied', now(), 'key-1');
    expect(await approvals.decide(first.approvalId, 'denied', now())).toEqual(denied);
    await expect(approvals.decide(first.approvalId, 'approved', now())).rejects.toMatchObject({
      code: 'conflict',
      message: 'The approval is already denied',
    });
    await expect(approvals.decide(second.approvalId, 'approved', now(), 'key-2')).rejects.toMatchObject({
      code: 'not_found',
      message: `No approval with id ${second.approvalId}`,
    });
    await expect(approvals.decide('nobody', 'approved', now())).rejects.toMatchObject({ code: 'not_found' });
    clock.ms += 15 * MINUTE_MS;
    await expect(approvals.decide(second.approvalId, 'approved', now())).rejects.toMatchObject({
      code: 'conflict',
      message: 'The approval expired',
    });
  });

  it('lists approvals by owner and status, newest first', async () => {
    const { executor, approvals, skill, now, clock } = await createHybrid();
    const ids: string[] = [];
    for (const call of [1, 2, 3]) {
      ids.unshift((await executor.park(skill, { call }, next(call))).approvalId);
      clock.ms += 1;
    }
    await executor.park(skill, {}, { ...next(4), apiKeyId: 'key-2' });
    await approvals.decide(ids[0] ?? '', 'approved', now());
    const idsOf = ({ data, total }: { data: { id: string }[]; total: number }) => [data.map(({ id }) => id), total];
    expect(idsOf(await approvals.listPage({ apiKeyId: 'key-1' }, 1, 2))).toEqual([ids.slice(0, 2), 3]);
    expect(idsOf(await approvals.listPage({ apiKeyId: 'key-1' }, 2, 2))).toEqual([ids.slice(2), 3]);
    expect(idsOf(await approvals.listPage({ apiKeyId: 'key-1', status: 'pending' }, 1, 10))).toEqual([ids.slice(1), 2]);
    expect((await approvals.listPage({}, 1, 10)).total).toBe(4);
    expect(await approvals.get(ids[0] ?? '', 'key-2')).toBeUndefined();
  });
});

describe('expiry', () => {
  it('ends undecided and unused approvals and what they parked', async () => {
    const { executor, executions, approvals, skill, now, clock } = await createHybrid();
    const undecided = await executor.park(skill, { call: 1 }, next(1));
    const unused = await executor.park(skill, { call: 2 }, next(2));
    const used = await executor.park(skill, { call: 3 }, next(3));
    await approvals.decide(unused.approvalId, 'approved', now());
    await approvals.decide(used.approvalId, 'approved', now());
    await executor.execute(skill, { call: 3 }, { ...next(3), approvalId: used.approvalId });
    clock.ms += 15 * MINUTE_MS - 1;
    expect(await approvals.expire(now())).toBe(0);
    clock.ms += 1;
    const fresh = await executor.park(skill, { call: 4 }, next(4));
    expect(await approvals.expire(now())).toBe(2);
    for (const { approvalId, execution } of [undecided, unused]) {
      expect(await approvals.get(approvalId)).toMatchObject({ status: 'expired' });
      expect(await executions.get(execution.id)).toMatchObject({
        status: 'error',
        errorMessage: 'The approval expired',
        durationMs: 0,
        finishedAt: at(15 * MINUTE_MS),
      });
    }
    expect(await executions.get(used.execution.id)).toMatchObject({ status: 'success' });
    expect(await executions.get(fresh.execution.id)).toMatchObject({ status: 'pending' });
  });

  it('frees the claim: the same request parks its call anew, before and after the recovery', async () => {
    const { executor, executions, approvals, skill, now, clock } = await createHybrid();
    const first = await executor.park(skill, {}, next(1));
    clock.ms += 15 * MINUTE_MS;
    const second = await executor.park(skill, {}, next(1));
    expect(second.approvalId).not.toBe(first.approvalId);
    clock.ms += 15 * MINUTE_MS;
    expect(await approvals.expire(now())).toBe(2);
    const third = await executor.park(skill, {}, next(1));
    expect(third.execution).toMatchObject({ status: 'pending', requestId: 'request-1' });
    expect(await executions.count({})).toBe(3);
  });
});
