/** What a character is to the tokenizer. A mark belongs to the word it follows and starts none. */
export const OTHER = 0;
export const WORD = 1;
/** A letter of a script that is written without spaces. */
export const UNSPACED = 2;
export const MARK = 3;
export type CharacterClass = typeof OTHER | typeof WORD | typeof UNSPACED | typeof MARK;

export const MIN_TOKEN_LENGTH = 3;
export const MIN_UNSPACED_LENGTH = 2;

const letterOrDigit = /^[\p{L}\p{N}]$/u;
const mark = /^\p{M}$/u;
const unspacedScript = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]$/u;

function classify(character: string): CharacterClass {
  if (letterOrDigit.test(character)) return unspacedScript.test(character) ? UNSPACED : WORD;
  return mark.test(character) ? MARK : OTHER;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Classes of the Basic Multilingual Plane, kept as class + 1 from when a character is first met. */
const knownClasses = new Uint8Array(0x10000);

function classOfUnit(unit: number): CharacterClass {
  const known = knownClasses[unit]!;
  if (known !== 0) return (known - 1) as CharacterClass;
  const found = classify(String.fromCharCode(unit));
  knownClasses[unit] = found + 1;
  return found;
}

/** The class of the character at `index`, where a surrogate pair starts if there is one. */
const classAt = (text: string, index: number): CharacterClass => {
  const unit = text.charCodeAt(index);
  return isHighSurrogate(unit) ? classify(String.fromCodePoint(text.codePointAt(index)!)) : classOfUnit(unit);
};

/** Whether a word that starts at `index` would be the rest of a longer one. */
export function continuesWord(text: string, index: number): boolean {
  for (let at = index; at > 0; ) {
    at -= at > 1 && isLowSurrogate(text.charCodeAt(at - 1)) && isHighSurrogate(text.charCodeAt(at - 2)) ? 2 : 1;
    const found = classAt(text, at);
    if (found !== MARK) return found === WORD;
  }
  return false;
}

/** Whether a word that ends before `index` would be the beginning of a longer one. What ends in a dash is no beginning of a word. */
export function isContinued(text: string, index: number): boolean {
  if (index >= text.length || !continuesWord(text, index)) return false;
  const next = classAt(text, index);
  return next === WORD || next === MARK;
}

/** Full case folding by way of upper case, which makes ß ss, and with one form of sigma; composed again at the end. */
const fold = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

/**
 * NFKC and case folding of what is not ASCII; the case of ASCII stays. Each part is folded together with the ASCII character in front of
 * it, with which it may compose. No ASCII character composes with what stands in front of it, so the parts do not touch each other.
 */
export const foldNonAscii = (text: string): string => text.replace(/[\0-\x7f]?[^\0-\x7f]+/g, fold);

/** NFKC and full case folding. */
export const foldText = (text: string): string => foldNonAscii(text).toLowerCase();

const HASH_START = 0x811c9dc5;
/** One step of FNV-1a, over code units. */
const hashUnit = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);

/** The hash that `scanRuns` gives for a run that is the whole text. The text is folded. */
export function hashRun(text: string): number {
  let hash = HASH_START;
  for (let index = 0; index < text.length; index++) hash = hashUnit(hash, text.charCodeAt(index));
  return hash;
}

/** Lower-case ASCII letters and digits by code unit, 0 for all other ASCII. */
const asciiWordUnits = Uint8Array.from({ length: 128 }, (_, unit) =>
  letterOrDigit.test(String.fromCharCode(unit)) ? String.fromCharCode(unit).toLowerCase().charCodeAt(0) : 0,
);

/** `length` counts code points; the hash is of the run in lower case. */
export type VisitRun = (start: number, end: number, length: number, unspaced: boolean, hash: number) => void;

/**
 * Visits the runs of letters and digits of a text that is folded but for the case of ASCII. A run ends where scripts with and without
 * spaces meet, so that `pdfを読む` has the run `pdf`.
 */
export function scanRuns(text: string, visit: VisitRun): void {
  let start = 0;
  let length = 0;
  let hash = HASH_START;
  let current: CharacterClass = OTHER;
  for (let index = 0; index < text.length; index++) {
    let unit = text.charCodeAt(index);
    let found: CharacterClass;
    if (unit < 128) {
      unit = asciiWordUnits[unit]!;
      found = unit === 0 ? OTHER : WORD;
    } else {
      found = classAt(text, index);
      if (found === MARK) found = current;
    }
    if (found !== current) {
      if (current !== OTHER) visit(start, index, length, current === UNSPACED, hash);
      current = found;
      start = index;
      length = 0;
      hash = HASH_START;
    }
    length++;
    hash = hashUnit(hash, unit);
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      index++;
      hash = hashUnit(hash, text.charCodeAt(index));
    }
  }
  if (current !== OTHER) visit(start, text.length, length, current === UNSPACED, hash);
}

/** Whether a token is of a script without spaces: all its letters are, or none. */
export const isUnspaced = (token: string): boolean => classAt(token, 0) === UNSPACED;

let segmenter: Intl.Segmenter | undefined;

/** The words of a run without spaces, 2 characters or more each. */
export function segmentWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(segmenter.segment(run), ({ segment }) => segment).filter((word) => [...word].length >= MIN_UNSPACED_LENGTH);
}

/** The distinct tokens of a text: runs of 3 characters or more and, of scripts without spaces, also words of 2 or more. */
export function tokensOf(text: string): Set<string> {
  const folded = foldText(text);
  const tokens = new Set<string>();
  scanRuns(folded, (start, end, length, unspaced) => {
    const run = folded.slice(start, end);
    if (length >= MIN_TOKEN_LENGTH) tokens.add(run);
    if (unspaced) for (const word of segmentWords(run)) tokens.add(word);
  });
  return tokens;
}

/** The distinct tokens of a name, which is also split where camelCase starts a new word: `parseHTTPBody` is parse, http, body. */
export const nameTokensOf = (name: string): Set<string> =>
  tokensOf(name.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' '));
