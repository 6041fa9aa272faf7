import { sha256Hex } from '../hex.ts';
import { canonicalJson, type JsonValue } from '../json.ts';

/** SHA-256 of the canonical JSON, as hex: equal for inputs that differ only in the order of their keys. */
export const digestInput = (input: JsonValue): Promise<string> => sha256Hex(canonicalJson(input));
