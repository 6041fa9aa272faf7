import { requireDemand } from '../api/auth.ts';
import { ownerOf, type Principal } from '../api/principal.ts';
import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { Services } from '../services.ts';
import { approvalOfRequestId } from './approval-request-id.ts';

/**
 * Takes the answer of a person at the client, which comes as a request of its own, maybe to another isolate than the call that waits for it:
 * they meet in the database. Only an acceptance lets the call run. Throws `invalid_request` for an answer to nothing, `forbidden`, `conflict`.
 */
export async function takeAnswer({ approvals, now }: Services, principal: Principal, { id, result }: JsonObject): Promise<void> {
  const approvalId = approvalOfRequestId(id);
  const approval = approvalId === undefined ? undefined : await approvals.get(approvalId, ownerOf(principal));
  if (approval === undefined) throw new AppError('invalid_request', 'id: this is no answer to a request of the server');
  requireDemand(principal, 'execute:skills');
  const accepts = isJsonObject(result) && result.action === 'accept';
  await approvals.decide(approval.id, accepts ? 'approved' : 'denied', new Date(now()), ownerOf(principal));
}
