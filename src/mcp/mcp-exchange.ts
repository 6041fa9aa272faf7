import type { Principal } from '../api/principal.ts';
import type { RequestLocation } from '../api/request-location.ts';
import type { JsonObject } from '../json.ts';
import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import type { McpSession } from './session.ts';

/** One POST of a client, authenticated and read. */
export interface McpExchange {
  request: Request;
  message: JsonObject;
  services: Services;
  principal: Principal;
  requestId: string;
  /** `Idempotency-Key`, else the id of the request. */
  claimId: string;
  session: McpSession | undefined;
  /** Whether the skills that the key is offered are tools of their own. */
  exposesSkills: boolean;
  location: RequestLocation;
  waitUntil: WaitUntil;
}
