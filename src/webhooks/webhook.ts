/** A handler that is an HTTPS endpoint of somebody else's. Times are ISO 8601 UTC with milliseconds. */
export interface Webhook {
  id: string;
  /** What a skill gives as its `handlerCode`; never that of a handler of this release. */
  name: string;
  url: string;
  /** Of one delivery, its answer included. */
  timeoutMs: number;
  createdAt: string;
  updatedAt: string;
}

/** What a call needs. Stays on the way from the database to the signature: never answered, never logged. */
export interface Endpoint {
  url: string;
  secret: string;
  timeoutMs: number;
}
