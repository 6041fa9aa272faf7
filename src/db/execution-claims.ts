import { and, eq, exists, inArray, isNull, ne, not, type SQL, sql } from 'drizzle-orm';
import { AppError } from '../errors.ts';
import { APPROVAL_TTL_MS } from '../execution/approval.ts';
import { type Execution, isFinished } from '../execution/execution.ts';
import { CLAIM_TTL_MS, type ExecutionStore, type NewExecution } from '../execution/execution-store.ts';
import { canonicalJson } from '../json.ts';
import { isExecutable, type Skill, skillKey } from '../skills/skill.ts';
import type { Database } from './client.ts';
import { isCustomOff, isMasterOff, mayRun, selectValues } from './insert-if-executable.ts';
import { approvals, settings, skillExecutions, skills } from './schema.ts';

const SKILLS_DISABLED = 'Skills execution is disabled. Enable Skills in Settings > AI.';
/** A claim that is freed, or a skill that is switched while we look, is tried again; more often means a fault. */
const CLAIM_TRIES = 3;

const isParked = and(eq(skillExecutions.status, 'pending'), isNull(skillExecutions.leaseExpiresAt));

const isParkedRow = ({ status, leaseExpiresAt }: Execution): boolean => status === 'pending' && leaseExpiresAt === null;

const holdsClaim = ({ apiKeyId, requestId, callId }: Execution): SQL | undefined =>
  and(eq(skillExecutions.apiKeyId, apiKeyId), eq(skillExecutions.requestId, requestId), eq(skillExecutions.callId, callId));

/** Whether another run may take this claim: it is a day old, or nothing ever ran under it (no lease) and nothing waits to. */
function isFree({ createdAt, leaseExpiresAt, ...execution }: Execution, now: string): boolean {
  const ageMs = Date.parse(now) - Date.parse(createdAt);
  return ageMs >= CLAIM_TTL_MS || (leaseExpiresAt === null && (isFinished(execution) || ageMs >= APPROVAL_TTL_MS));
}

function requireSameCall(existing: Execution, asked: NewExecution): void {
  const isSame =
    existing.skillName === asked.skillName &&
    existing.skillVersion === asked.skillVersion &&
    canonicalJson(existing.input) === canonicalJson(asked.input);
  if (!isSame) throw new AppError('idempotency_conflict', 'This idempotency key and call id were used for a different call');
}

interface Switches {
  skill: Pick<Skill, 'enabled' | 'mode' | 'kind'> | undefined;
  isMasterOff: boolean;
  isCustomOff: boolean;
}

function refusalOf(row: NewExecution, { skill, isMasterOff, isCustomOff }: Switches): AppError | undefined {
  const name = skillKey({ name: row.skillName, version: row.skillVersion });
  if (isMasterOff) return new AppError('skills_disabled', SKILLS_DISABLED);
  if (!skill) return new AppError('skill_not_found', `Skill ${name} is no longer installed`);
  if (!isExecutable(skill)) return new AppError('skill_off', `Skill ${name} is off`);
  return isCustomOff && skill.kind !== 'builtin'
    ? new AppError('skill_off', `Skill ${name} is off: the settings allow built-in skills only`)
    : undefined;
}

/** How a call gets the right to run, or to wait for a person. Each claim is decided by one statement, in the database. */
export function createExecutionClaims(db: Database): Pick<ExecutionStore, 'claim' | 'park'> {
  const insert = (row: NewExecution, condition?: SQL) =>
    db
      .insert(skillExecutions)
      .select(
        sql`select ${selectValues(skillExecutions, { ...row })} from ${skills} where ${mayRun(row.skillId)} ${condition ? sql`and ${condition}` : sql``}`,
      )
      .onConflictDoNothing()
      .returning();

  const skillMayRun = (row: NewExecution): SQL => exists(db.select({ one: sql`1` }).from(skills).where(mayRun(row.skillId)));

  /** The parked row takes over the new call's claim, so that one call has one row from its proposal to its end. */
  async function useApproval(row: NewExecution, approval: { id: string; inputSha256: string }): Promise<Execution | undefined> {
    const { requestId, callId, sessionId, leaseExpiresAt } = row;
    const mine = and(eq(approvals.id, approval.id), eq(approvals.apiKeyId, row.apiKeyId));
    const claimIsFree = not(
      exists(
        db
          .select({ one: sql`1` })
          .from(skillExecutions)
          .where(and(holdsClaim(row), ne(skillExecutions.id, approvals.executionId))),
      ),
    );
    const [, [execution]] = await db.batch([
      db
        .update(approvals)
        .set({ status: 'used' })
        .where(
          and(
            mine,
            eq(approvals.status, 'approved'),
            eq(approvals.skillId, row.skillId),
            eq(approvals.inputSha256, approval.inputSha256),
            sql`${approvals.expiresAt} > ${row.createdAt}`,
            skillMayRun(row),
            claimIsFree,
          ),
        ),
      db
        .update(skillExecutions)
        .set({ requestId, callId, sessionId, leaseExpiresAt })
        .where(
          and(
            isParked,
            inArray(
              skillExecutions.id,
              db
                .select({ id: approvals.executionId })
                .from(approvals)
                .where(and(mine, eq(approvals.status, 'used'))),
            ),
          ),
        )
        .returning(),
    ]);
    return execution;
  }

  /** Why a claim was not given, in one round trip: the row that holds it, or undefined after a switch that stood off is on again. */
  async function findHolder(row: NewExecution): Promise<Execution | undefined> {
    const [[holder], [skill], [masterOff], [customOff]] = await db.batch([
      db.select().from(skillExecutions).where(holdsClaim(row)),
      db.select({ enabled: skills.enabled, mode: skills.mode, kind: skills.kind }).from(skills).where(eq(skills.id, row.skillId)),
      db.select({ key: settings.key }).from(settings).where(isMasterOff),
      db.select({ key: settings.key }).from(settings).where(isCustomOff),
    ]);
    const refusal = refusalOf(row, { skill, isMasterOff: masterOff !== undefined, isCustomOff: customOff !== undefined });
    const isHeld = holder !== undefined && !isFree(holder, row.createdAt);
    // What has begun is answered for whatever the switches say since; what only waits is not.
    if (isHeld && (refusal === undefined || !isParkedRow(holder))) {
      requireSameCall(holder, row);
      return holder;
    }
    if (refusal) throw refusal;
    if (holder) await release(holder);
    return undefined;
  }

  /** Frees a claim and keeps its row as history. */
  const release = ({ id, requestId }: Execution) =>
    db
      .update(skillExecutions)
      .set({ requestId: `${requestId}#${id}` })
      .where(and(eq(skillExecutions.id, id), eq(skillExecutions.requestId, requestId)));

  return {
    async claim(row, approval) {
      for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
        const execution = approval ? await useApproval(row, approval) : (await insert(row))[0];
        if (execution) return { execution, repeated: false };
        const holder = await findHolder(row);
        if (holder) return { execution: holder, repeated: true };
      }
      throw new AppError(
        'conflict',
        approval ? 'The approval is not for this call, was used, or has expired' : 'The call could not be claimed',
      );
    },

    async park(row, { inputSha256, ...approval }) {
      const isSameCall = and(
        eq(approvals.apiKeyId, row.apiKeyId),
        eq(approvals.skillId, row.skillId),
        eq(approvals.inputSha256, inputSha256),
        eq(approvals.status, 'pending'),
        sql`${approvals.expiresAt} > ${row.createdAt}`,
      );
      for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
        const [, , [parked]] = await db.batch([
          insert(row, sql`not exists (select 1 from ${approvals} where ${isSameCall})`),
          db
            .insert(approvals)
            .select(
              sql`select ${selectValues(approvals, { ...approval, inputSha256 })} from ${skillExecutions} where ${skillExecutions.id} = ${row.id}`,
            ),
          db
            .select({ execution: skillExecutions, approvalId: approvals.id, expiresAt: approvals.expiresAt })
            .from(approvals)
            .innerJoin(skillExecutions, eq(skillExecutions.id, approvals.executionId))
            .where(and(isSameCall, skillMayRun(row))),
        ]);
        if (parked) return parked;
        const holder = await findHolder(row);
        if (holder) throw new AppError('idempotency_conflict', 'This call was already made under the same idempotency key and call id');
      }
      throw new AppError('conflict', 'The call could not be claimed');
    },
  };
}
