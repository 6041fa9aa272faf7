import type { Logger } from '../logger.ts';
import type { ApprovalStore } from './approval-store.ts';
import type { ExecutionStore } from './execution-store.ts';

const DAY_MS = 24 * 3_600_000;

export interface MaintenanceDependencies {
  executions: Pick<ExecutionStore, 'recoverLeases' | 'deleteOlderThan'>;
  approvals: Pick<ApprovalStore, 'expire' | 'deleteOlderThan'>;
  /** What else has an end of its own, by name: each deletes, or ends, what is over by then and tells how much that was. */
  deleteExpired: { [name: string]: (now: Date) => Promise<number> };
  /** Setting `executionRetentionDays`. */
  retentionDays: number;
  now: () => Date;
  log: Logger;
}

/** How many rows each step changed; undefined when it failed. */
export type MaintenanceReport = { [step: string]: number | undefined };

/** The work of the cron trigger. A step that fails is logged and leaves the others to do theirs; never rejects. */
export async function runMaintenance(dependencies: MaintenanceDependencies): Promise<MaintenanceReport> {
  const { executions, approvals, deleteExpired, retentionDays, log } = dependencies;
  const now = dependencies.now();
  const cutoff = new Date(now.getTime() - retentionDays * DAY_MS);
  // In this order: what was left behind ends first, so that the history that goes is complete.
  const steps: [string, () => Promise<number>][] = [
    ['interruptedExecutions', () => executions.recoverLeases(now)],
    ['expiredApprovals', () => approvals.expire(now)],
    ['deletedExecutions', () => executions.deleteOlderThan(cutoff)],
    ['deletedApprovals', () => approvals.deleteOlderThan(cutoff)],
    ...Object.entries(deleteExpired).map(([name, run]): [string, () => Promise<number>] => [name, () => run(now)]),
  ];
  const report: MaintenanceReport = {};
  for (const [step, run] of steps) {
    try {
      report[step] = await run();
    } catch (error) {
      report[step] = undefined;
      log.error('skills.maintenance.failed', { step, error });
    }
  }
  if (Object.values(report).some((count) => count !== 0)) log.info('skills.maintenance.complete', report);
  return report;
}
