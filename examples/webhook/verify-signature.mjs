import { createHmac, timingSafeEqual } from 'node:crypto';

const WINDOW_SECONDS = 300;
/** Signatures that were accepted, and when each may be forgotten. */
const seen = new Map();

/** Whether a call comes from the gateway, is fresh and is no repeat. `body` is the body as it came, before any parsing. */
export function verifySignature(body, header, secret, now = Date.now() / 1000) {
  const [, time, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (signature === undefined || Math.abs(now - Number(time)) > WINDOW_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return false;
  for (const [old, until] of seen) {
    if (until >= now) break;
    seen.delete(old);
  }
  if (seen.has(signature)) return false;
  seen.set(signature, now + 2 * WINDOW_SECONDS);
  return true;
}
