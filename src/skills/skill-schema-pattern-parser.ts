/** A part of a regular expression. */
export type Node =
  /** What matches one character: a letter, an escape, a class. */
  | { kind: 'character'; source: string }
  /** What matches between characters. The insides of look-around are kept, to be looked into. */
  | { kind: 'assertion'; alternatives: Node[][] }
  | { kind: 'reference' }
  | { kind: 'group'; alternatives: Node[][] }
  | { kind: 'repetition'; body: Node; min: number; max: number };

const groupStart = /\((?:\?(?:<[=!]|[=!]|:|<[^>]*>|[ims]*(?:-[ims]*)?:))?/uy;
const escapeSequence =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|k<[^>]*>|[1-9]\d*|.)/suy;
const characterClass = /\[(?:\\.|[^\]\\])*\]/suy;
const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/uy;

/** Reads a regular expression that is known to be valid with the `u` flag. */
export function parsePattern(pattern: string): Node {
  let index = 0;

  const take = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = index;
    const match = expression.exec(pattern);
    if (!match) return undefined;
    index += match[0].length;
    return match;
  };

  function parseAlternatives(): Node[][] {
    const alternatives: Node[][] = [[]];
    while (index < pattern.length && pattern[index] !== ')') {
      if (pattern[index] === '|') {
        index++;
        alternatives.push([]);
      } else {
        alternatives.at(-1)!.push(parseTerm());
      }
    }
    return alternatives;
  }

  function parseAtom(): Node {
    const start = take(groupStart)?.[0];
    if (start !== undefined) {
      const alternatives = parseAlternatives();
      index++;
      return { kind: /^\(\?<?[=!]$/.test(start) ? 'assertion' : 'group', alternatives };
    }
    const escaped = take(escapeSequence)?.[0];
    if (escaped !== undefined) {
      if (/^\\[bB]$/.test(escaped)) return { kind: 'assertion', alternatives: [] };
      return /^\\(?:k|[1-9])/.test(escaped) ? { kind: 'reference' } : { kind: 'character', source: escaped };
    }
    const set = take(characterClass)?.[0];
    if (set !== undefined) return { kind: 'character', source: set };
    const character = String.fromCodePoint(pattern.codePointAt(index)!);
    index += character.length;
    return character === '^' || character === '$' ? { kind: 'assertion', alternatives: [] } : { kind: 'character', source: character };
  }

  function parseTerm(): Node {
    const body = parseAtom();
    const match = take(quantifier);
    if (!match) return body;
    const [, sign, from, comma, to] = match;
    if (sign !== undefined)
      return { kind: 'repetition', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const min = Number(from);
    return { kind: 'repetition', body, min, max: comma === '' ? min : to === '' ? Number.POSITIVE_INFINITY : Number(to) };
  }

  return { kind: 'group', alternatives: parseAlternatives() };
}
