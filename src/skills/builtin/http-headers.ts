/** Headers that belong to one connection (RFC 9110, section 7.6.1) and are not passed on. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const BLOCKED_OUTGOING = ['host', 'content-length', 'expect', 'cookie', 'set-cookie', 'authorization'];
const BLOCKED_INCOMING = ['set-cookie', 'set-cookie2'];

/** The headers without those that are blocked, belong to a connection or are named by `connection`. */
function without(headers: Headers, blocked: readonly string[]): Headers {
  const named = (headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...blocked, ...named]);
  return new Headers([...headers].filter(([name]) => !dropped.has(name)));
}

export const outgoingHeaders = (headers: Headers): Headers => without(headers, BLOCKED_OUTGOING);

export const incomingHeaders = (headers: Headers): Record<string, string> => Object.fromEntries(without(headers, BLOCKED_INCOMING));
