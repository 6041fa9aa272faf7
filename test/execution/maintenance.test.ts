import { lte } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { suspendedTurns } from '../../src/db/schema.ts';
import { runMaintenance } from '../../src/execution/maintenance.ts';
import { newExecution } from '../../src/execution/new-execution.ts';
import { contextOf, createFixture } from './executor-fixture.ts';

const DAY_MS = 24 * 3_600_000;

async function createMaintained() {
  const fixture = await createFixture({ policy: 'hybrid' });
  const { db, executions, approvals, now, lines } = fixture;
  const log = {
    info: (event: string, fields = {}) => void lines.push({ level: 'info', event, fields }),
    warn: () => {},
    error: (event: string, fields = {}) => void lines.push({ level: 'error', event, fields }),
  };
  const suspended = async (moment: Date) =>
    (await db.delete(suspendedTurns).where(lte(suspendedTurns.expiresAt, moment.toISOString()))).rowsAffected;
  const dependencies = { executions, approvals, deleteExpired: { suspendedTurns: suspended }, retentionDays: 30, now, log };
  return { ...fixture, dependencies };
}

describe('runMaintenance', () => {
  it('ends what was left behind and deletes what is over', async () => {
    const { executor, executions, approvals, skill, db, clock, now, lines, dependencies } = await createMaintained();
    const { execute, park } = executor(() => ({ success: true }));
    const old = await execute(skill, {}, contextOf({ callId: 'old' }));
    const oldApproval = await park(skill, { call: 'parked' }, contextOf({ callId: 'parked' }));
    clock.ms += 30 * DAY_MS;
    const kept = await execute(skill, {}, contextOf({ callId: 'kept' }));
    const left = newExecution(skill, {}, contextOf({ callId: 'left' }), { id: 'left', createdAt: now(), leaseExpiresAt: now() });
    await executions.claim(left);
    const turn = { apiKeyId: 'key-1', transcript: [], createdAt: now().toISOString() };
    await db.insert(suspendedTurns).values([
      { ...turn, id: 'over', expiresAt: new Date(clock.ms).toISOString() },
      { ...turn, id: 'open', expiresAt: new Date(clock.ms + 2).toISOString() },
    ]);
    clock.ms += 1;

    const report = {
      interruptedExecutions: 1,
      expiredApprovals: 1,
      deletedExecutions: 2,
      deletedApprovals: 1,
      suspendedTurns: 1,
    };
    expect(await runMaintenance(dependencies)).toEqual(report);
    expect(lines.at(-1)).toEqual({ level: 'info', event: 'skills.maintenance.complete', fields: report });
    expect(await executions.get(old.id)).toBeUndefined();
    expect(await executions.get(oldApproval.execution.id)).toBeUndefined();
    expect(await approvals.get(oldApproval.approvalId)).toBeUndefined();
    expect(await executions.get(kept.id)).toEqual(kept);
    expect(await executions.get('left')).toMatchObject({ status: 'error', errorMessage: 'interrupted', durationMs: 1 });
    expect((await db.select({ id: suspendedTurns.id }).from(suspendedTurns)).map(({ id }) => id)).toEqual(['open']);
    expect(await runMaintenance(dependencies)).toEqual({
      interruptedExecutions: 0,
      expiredApprovals: 0,
      deletedExecutions: 0,
      deletedApprovals: 0,
      suspendedTurns: 0,
    });
  });

  it('goes on after a step that fails', async () => {
    const { lines, dependencies } = await createMaintained();
    const report = await runMaintenance({
      ...dependencies,
      deleteExpired: { broken: () => Promise.reject(new Error('no such table')), ...dependencies.deleteExpired },
    });
    expect(report).toEqual({
      interruptedExecutions: 0,
      expiredApprovals: 0,
      deletedExecutions: 0,
      deletedApprovals: 0,
      broken: undefined,
      suspendedTurns: 0,
    });
    expect(lines).toContainEqual({
      level: 'error',
      event: 'skills.maintenance.failed',
      fields: { step: 'broken', error: new Error('no such table') },
    });
  });

  it('does not reject when the database is down', async () => {
    const { database, dependencies } = await createMaintained();
    await database.close();
    expect(Object.values(await runMaintenance(dependencies))).toEqual(Array(5).fill(undefined));
  });
});
