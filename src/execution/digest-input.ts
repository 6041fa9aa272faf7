import { canonicalJson, type JsonValue } from '../json.ts';

/** SHA-256 of the canonical JSON, as hex: equal for inputs that differ only in the order of their keys. */
export async function digestInput(input: JsonValue): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(input)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
