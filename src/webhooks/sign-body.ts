import { toHex } from '../hex.ts';

/**
 * The value of `x-omniroute-signature` for a body: `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`, keyed with the UTF-8 of the
 * secret. The form is that of docs.stripe.com/webhooks/signature, so that what verifies it exists in most languages.
 */
export async function signBody(body: string, secret: string, now: Date): Promise<string> {
  const encoder = new TextEncoder();
  const time = Math.floor(now.getTime() / 1_000);
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const digest = await crypto.subtle.sign('HMAC', key, encoder.encode(`${time}.${body}`));
  return `t=${time},v1=${toHex(digest)}`;
}
