import type { JsonValue } from '../json.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'used', 'expired'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** How long a person has to decide, and the call to be repeated. */
export const APPROVAL_TTL_MS = 15 * 60_000;

/** A person's decision about one call of a `hybrid` skill. Times are ISO 8601 UTC with milliseconds. */
export interface Approval {
  id: string;
  apiKeyId: string;
  skillId: string | null;
  skillName: string;
  skillVersion: string;
  input: JsonValue;
  sessionId: string | null;
  status: ApprovalStatus;
  createdAt: string;
  expiresAt: string;
  /** The parked execution, which is the one that runs once the approval is used. */
  executionId: string | null;
}
