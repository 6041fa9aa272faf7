import type { Approval, ApprovalStatus } from './approval.ts';

export const DECLINED = 'The user declined';

/** A call of a `hybrid` skill, as a decision is looked up for it. */
export interface DecisionQuery {
  apiKeyId: string;
  skillId: string;
  inputSha256: string;
  requestId: string;
  callId: string;
}

/** How an approval stands, without the input that it is for. */
export type ApprovalState = Pick<Approval, 'id' | 'status' | 'expiresAt' | 'executionId'>;

export interface ApprovalFilter {
  apiKeyId?: string;
  status?: ApprovalStatus;
}

/** Where approvals are kept. Every method rejects with `database_unavailable` when the database cannot be reached. */
export interface ApprovalStore {
  /** The approval that says what to do with this call: unexpired and `approved` or `denied`, or `used` by this very claim. */
  findDecision(query: DecisionQuery, now: Date): Promise<Approval | undefined>;
  /**
   * Approves or denies; saying the same again is no error. Denied, the parked execution ends as an error.
   * Rejects with an AppError: `not_found`, or `conflict` when it was decided otherwise, is used or has expired.
   */
  decide(id: string, decision: 'approved' | 'denied', now: Date, apiKeyId?: string): Promise<Approval>;
  get(id: string, apiKeyId?: string): Promise<Approval | undefined>;
  /** For those who ask again and again. */
  stateOf(id: string, apiKeyId: string): Promise<ApprovalState | undefined>;
  /** Newest first. */
  listPage(filter: ApprovalFilter, page: number, limit: number): Promise<{ data: Approval[]; total: number }>;
  /** Ends what nobody used in time, together with the parked executions; the number of approvals. */
  expire(now: Date): Promise<number>;
  /** The number of approvals that went; those that may still be used stay. */
  deleteOlderThan(cutoff: Date): Promise<number>;
}
