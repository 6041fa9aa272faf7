/** Numbers of tokens, found by their code units in a text, so that looking up a token of a request makes no string. */
export interface TokenTable {
  /** The number of the token that stands in the text from `start` to `end`, else -1. ASCII letters of the text count as lower-case. */
  find(text: string, start: number, end: number): number;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

const lowerCase = (unit: number): number => (unit >= 65 && unit <= 90 ? unit + 32 : unit);

/** FNV-1a over code units, with its high bits mixed into the low ones that choose a slot. */
function hashOf(text: string, start: number, end: number): number {
  let hash = FNV_OFFSET;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ lowerCase(text.charCodeAt(index)), FNV_PRIME);
  return (hash ^ (hash >>> 15)) | 0;
}

/** A table of folded, distinct tokens, numbered by their place in the list. Open addressing, at most half full. */
export function buildTokenTable(tokens: readonly string[]): TokenTable {
  const slotCount = 2 ** Math.ceil(Math.log2(tokens.length * 2 + 2));
  const mask = slotCount - 1;
  /** Pairs: the token's number plus 1, and its hash. */
  const slots = new Int32Array(slotCount * 2);
  tokens.forEach((token, number) => {
    const hash = hashOf(token, 0, token.length);
    let slot = hash & mask;
    while (slots[slot * 2] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = number + 1;
    slots[slot * 2 + 1] = hash;
  });

  const standsAt = (token: string, text: string, start: number): boolean => {
    for (let index = 0; index < token.length; index++) {
      if (token.charCodeAt(index) !== lowerCase(text.charCodeAt(start + index))) return false;
    }
    return true;
  };

  return {
    find(text, start, end) {
      const hash = hashOf(text, start, end);
      for (let slot = hash & mask; slots[slot * 2] !== 0; slot = (slot + 1) & mask) {
        if (slots[slot * 2 + 1] !== hash) continue;
        const token = tokens[slots[slot * 2]! - 1]!;
        if (token.length === end - start && standsAt(token, text, start)) return slots[slot * 2]! - 1;
      }
      return -1;
    },
  };
}
