/** Codes of JSON-RPC 2.0 (jsonrpc.org/specification, section 5.1) and of A2A (a2a-protocol.org/v1.0.0/specification, section 5.4). */
const CODES = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const;

export type A2AErrorReason = keyof typeof CODES;

/** A failure that the other agent is told of. */
export class A2AError extends Error {
  override readonly name = 'A2AError';
  readonly reason: A2AErrorReason;

  constructor(reason: A2AErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }

  get code(): number {
    return CODES[this.reason];
  }
}
