import type { Logger } from '../logger.ts';
import type { ApprovalStore } from './approval-store.ts';
import type { ExecutionStore } from './execution-store.ts';

const DAY_MS = 24 * 3_600_000;

export interface MaintenanceDependencies {
  executions: Pick<ExecutionStore, 'recoverLeases' | 'deleteOlderThan'>;
  approvals: Pick<ApprovalStore, 'expire' | 'deleteOlderThan'>;
  /** The number of turns that went because nobody came back in time. */
  deleteExpiredTurns: (now: Date) => Promise<number>;
  /** Setting `executionRetentionDays`. */
  retentionDays: number;
  now: () => Date;
  log: Logger;
}

/** What each step of a maintenance did; undefined when it failed. */
export interface MaintenanceReport {
  interrupted: number | undefined;
  expiredApprovals: number | undefined;
  deletedExecutions: number | undefined;
  deletedApprovals: number | undefined;
  deletedTurns: number | undefined;
}

/** The work of the cron trigger. A step that fails is logged and leaves the others to do theirs; never rejects. */
export async function runMaintenance(dependencies: MaintenanceDependencies): Promise<MaintenanceReport> {
  const { executions, approvals, deleteExpiredTurns, retentionDays, log } = dependencies;
  const now = dependencies.now();
  const cutoff = new Date(now.getTime() - retentionDays * DAY_MS);
  const step = async (name: keyof MaintenanceReport, run: Promise<number>) => {
    try {
      return await run;
    } catch (error) {
      log.error('skills.maintenance.failed', { step: name, error });
      return undefined;
    }
  };
  // In this order: what has been left behind ends first, so that the history that goes is complete.
  const report: MaintenanceReport = {
    interrupted: await step('interrupted', executions.recoverLeases(now)),
    expiredApprovals: await step('expiredApprovals', approvals.expire(now)),
    deletedExecutions: await step('deletedExecutions', executions.deleteOlderThan(cutoff)),
    deletedApprovals: await step('deletedApprovals', approvals.deleteOlderThan(cutoff)),
    deletedTurns: await step('deletedTurns', deleteExpiredTurns(now)),
  };
  log.info('skills.maintenance.complete', { ...report });
  return report;
}
