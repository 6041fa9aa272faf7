import { isJsonObject, type JsonValue } from '../json.ts';

/**
 * What a client of the revisions up to 2025-11-25 told when it initialized. The server keeps nothing of it: the session's id says it, and
 * comes with every request. It speaks of the client alone, so one that makes up an id gains nothing.
 */
export interface McpSession {
  id: string;
  /** Whether a person at the client can be asked. */
  canElicit: boolean;
}

export const SESSION_HEADER = 'mcp-session-id';

const SESSION_ID = /^[0-9a-f-]{36}(-elicitation)?$/;

/** Whether these capabilities let the server ask in form mode; an empty declaration is the older way to say so. */
export function canElicit(capabilities: JsonValue | undefined): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined;
  return isJsonObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

export const sessionIdFor = (capabilities: JsonValue | undefined, newId: () => string): string =>
  `${newId()}${canElicit(capabilities) ? '-elicitation' : ''}`;

/** The session of a request; undefined when it has none that we gave out. */
export function readSession(headers: Headers): McpSession | undefined {
  const id = headers.get(SESSION_HEADER) ?? '';
  const match = SESSION_ID.exec(id);
  return match ? { id, canElicit: match[1] !== undefined } : undefined;
}
