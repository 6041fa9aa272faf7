const PREFIX = 'approval:';

/** The JSON-RPC id of the request by which a person at the client is asked, so that any isolate knows what its answer is about. */
export const approvalRequestId = (approvalId: string): string => `${PREFIX}${approvalId}`;

export const approvalOfRequestId = (id: unknown): string | undefined =>
  typeof id === 'string' && id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
