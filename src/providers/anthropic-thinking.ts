import type { JsonObject, JsonValue } from '../json.ts';

/**
 * Stands behind the signature of thinking that the client sees behind something hidden. The provider checks signed thinking against what
 * stood around it, so such thinking may not come back in a history that lacks the hidden calls. `#` is no character of a signature.
 */
const MARK = '#omniroute';

/** Where each kind of thinking block has its signature. */
const SIGNATURE_FIELDS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['thinking', 'signature'],
  ['redacted_thinking', 'data'],
]);

export const isThinking = (block: JsonObject): boolean => SIGNATURE_FIELDS.has(block.type);

export const markSignature = (signature: string): string => `${signature}${MARK}`;

/** The thinking with its mark. Thinking without a signature has nothing that could be checked. */
export function markThinking(block: JsonObject): JsonObject {
  const field = SIGNATURE_FIELDS.get(block.type);
  const signature = field === undefined ? undefined : block[field];
  return field === undefined || typeof signature !== 'string' || signature === '' ? block : { ...block, [field]: markSignature(signature) };
}

/** The thinking without its mark; undefined when it has none. */
export function unmarkThinking(block: JsonObject): JsonObject | undefined {
  const field = SIGNATURE_FIELDS.get(block.type);
  const signature = field === undefined ? undefined : block[field];
  return field === undefined || typeof signature !== 'string' || !signature.endsWith(MARK)
    ? undefined
    : { ...block, [field]: signature.slice(0, -MARK.length) };
}
