import { hashRun, wordBytes } from './tokenize.ts';

/** Numbers of tokens, found by their bytes in a text, so that looking up a token of a request makes no string. */
export interface TokenTable {
  /** The number of the token that stands in the text from `start` to `end`, else -1. ASCII letters of the text count as lower-case. */
  find(text: Uint8Array, start: number, end: number, hash: number): number;
}

function standsAt(token: Uint8Array, text: Uint8Array, start: number): boolean {
  for (let index = 0; index < token.length; index++) if (token[index] !== wordBytes[text[start + index]!]) return false;
  return true;
}

/** A table of folded, distinct tokens, numbered by their place in the list. Open addressing, at most half full. */
export function buildTokenTable(tokens: readonly string[]): TokenTable {
  const encoder = new TextEncoder();
  const encoded = tokens.map((token) => encoder.encode(token));
  const slotCount = 2 ** Math.ceil(Math.log2(tokens.length * 2 + 2));
  const mask = slotCount - 1;
  /** The low bits of a hash of FNV-1a hang on the last characters alone; the high ones do not. */
  const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) & mask;
  /** Pairs: the token's number plus 1, and its hash. */
  const slots = new Int32Array(slotCount * 2);
  encoded.forEach((token, number) => {
    const hash = hashRun(token);
    let slot = slotOf(hash);
    while (slots[slot * 2] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = number + 1;
    slots[slot * 2 + 1] = hash;
  });

  return {
    find(text, start, end, hash) {
      for (let slot = slotOf(hash); slots[slot * 2] !== 0; slot = (slot + 1) & mask) {
        if (slots[slot * 2 + 1] !== hash) continue;
        const number = slots[slot * 2]! - 1;
        const token = encoded[number]!;
        if (token.length === end - start && standsAt(token, text, start)) return number;
      }
      return -1;
    },
  };
}
