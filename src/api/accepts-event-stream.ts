import type { Context } from 'hono';
import { accepts } from 'hono/accepts';

const JSON_TYPE = 'application/json';
const EVENT_STREAM_TYPE = 'text/event-stream';

interface Accepted {
  type: string;
  q: number;
}

/**
 * Whether the `accept` header (RFC 9110, section 12.5.1) asks for server-sent events. It has to name them: who takes anything gets JSON. Of both, the one with
 * the higher quality is meant, or of equals the one that is named first.
 */
export const acceptsEventStream = (c: Context): boolean =>
  accepts(c, { header: 'Accept', supports: [JSON_TYPE, EVENT_STREAM_TYPE], default: JSON_TYPE, match: preferred }) === EVENT_STREAM_TYPE;

function preferred(accepted: readonly Accepted[]): string {
  const find = (type: string) => accepted.findIndex((accept) => accept.type.toLowerCase() === type);
  const [stream, json] = [find(EVENT_STREAM_TYPE), find(JSON_TYPE)];
  const qualityAt = (index: number) => accepted[index]?.q ?? 0;
  // The most specific range that holds JSON says how much it is wanted.
  const jsonRange = [json, find('application/*'), find('*/*')].find((index) => index >= 0) ?? -1;
  if (qualityAt(stream) === 0 || qualityAt(stream) < qualityAt(jsonRange)) return JSON_TYPE;
  return json >= 0 && json < stream && qualityAt(json) === qualityAt(stream) ? JSON_TYPE : EVENT_STREAM_TYPE;
}
