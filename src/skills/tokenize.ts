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

/** Classes of the Basic Multilingual Plane, kept as class + 1 from when a character is first met. */
const knownClasses = new Uint8Array(0x10000);

function classOf(codePoint: number): CharacterClass {
  if (codePoint > 0xffff) return classify(String.fromCodePoint(codePoint));
  const known = knownClasses[codePoint]!;
  if (known !== 0) return (known - 1) as CharacterClass;
  const found = classify(String.fromCharCode(codePoint));
  knownClasses[codePoint] = found + 1;
  return found;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** How many bytes the character has that starts with a byte. */
const lengthOfCharacter = (lead: number): number => (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);

/** The class of the character that starts at `index`. */
function classAt(bytes: Uint8Array, index: number): CharacterClass {
  const lead = bytes[index]!;
  const length = lengthOfCharacter(lead);
  if (length === 1) return classOf(lead);
  let codePoint = lead & (0x7f >> length);
  for (let at = index + 1; at < index + length; at++) codePoint = (codePoint << 6) | (bytes[at]! & 0x3f);
  return classOf(codePoint);
}

/** Whether a word that starts at `index` would be the rest of a longer one. */
export function continuesWord(bytes: Uint8Array, index: number): boolean {
  for (let at = index; at > 0; ) {
    do at--;
    while (isContinuation(bytes[at]));
    const found = classAt(bytes, at);
    if (found !== MARK) return found === WORD;
  }
  return false;
}

/** Whether a word that ends before `index` would be the beginning of a longer one. What ends in a dash is no beginning of a word. */
export function isContinued(bytes: Uint8Array, index: number): boolean {
  if (index >= bytes.length || !continuesWord(bytes, index)) return false;
  const next = classAt(bytes, index);
  return next === WORD || next === MARK;
}

/** Full case folding by way of upper case, which makes ß ss, and with one form of sigma; composed again at the end. */
const fold = (text: string): string =>
  text.toWellFormed().normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

/**
 * NFKC and case folding of what is not ASCII; the case of ASCII stays. Each part is folded together with the ASCII character in front of
 * it, with which it may compose. No ASCII character composes with what stands in front of it, so the parts do not touch each other.
 */
const foldNonAscii = (text: string): string => text.replace(/[\0-\x7f]?[^\0-\x7f]+/g, fold);

/** NFKC and full case folding. */
export const foldText = (text: string): string => foldNonAscii(text).toLowerCase();

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** A text as UTF-8, which is much faster to go through than a string; folded but for the case of ASCII. */
export function encodeFolded(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  return bytes.length === text.length ? bytes : encoder.encode(foldNonAscii(text));
}

export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);

const HASH_START = 0x811c9dc5;
/** One step of FNV-1a. */
const hashByte = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

/** The hash that `scanRuns` gives for a run. The bytes are in lower case. */
export const hashRun = (bytes: Uint8Array): number => bytes.reduce(hashByte, HASH_START);

/** Lower-case ASCII letters and digits by byte, 0 for all other ASCII; bytes of other characters stand for themselves. */
export const wordBytes = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (byte >= 0x80) return byte;
  return letterOrDigit.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});

/** `length` counts characters; the hash is of the run in lower case. */
export type VisitRun = (start: number, end: number, length: number, unspaced: boolean, hash: number) => void;

/**
 * Visits the runs of letters and digits of an encoded text. A run ends where scripts with and without spaces meet, so that `pdfを読む` has
 * the run `pdf`.
 */
export function scanRuns(bytes: Uint8Array, visit: VisitRun): void {
  const size = bytes.length;
  let index = 0;
  while (index < size) {
    let byte = wordBytes[bytes[index]!]!;
    if (byte === 0) {
      index++;
      continue;
    }
    const current = byte < 0x80 ? WORD : classAt(bytes, index);
    if (current === OTHER || current === MARK) {
      index += lengthOfCharacter(byte);
      continue;
    }
    const start = index;
    let hash = HASH_START;
    let length = 0;
    while (byte !== 0) {
      if (byte < 0x80) {
        if (current !== WORD) break;
        hash = hashByte(hash, byte);
        index++;
      } else {
        const found = classAt(bytes, index);
        if (found !== current && found !== MARK) break;
        for (const end = index + lengthOfCharacter(byte); index < end; index++) hash = hashByte(hash, bytes[index]!);
      }
      length++;
      if (index >= size) break;
      byte = wordBytes[bytes[index]!]!;
    }
    visit(start, index, length, current === UNSPACED, hash);
  }
}

/** Whether a token is of a script without spaces: all its letters are, or none. */
export const isUnspaced = (token: string): boolean => classOf(token.codePointAt(0)!) === UNSPACED;

let segmenter: Intl.Segmenter | undefined;

/** The words of a run without spaces, 2 characters or more each. */
export function segmentWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(segmenter.segment(run), ({ segment }) => segment).filter((word) => [...word].length >= MIN_UNSPACED_LENGTH);
}

const asciiTokens = new RegExp(`[a-z0-9]{${MIN_TOKEN_LENGTH},}`, 'g');

/** The distinct tokens of a text: runs of 3 characters or more and, of scripts without spaces, also words of 2 or more. */
export function tokensOf(text: string): Set<string> {
  // The same in one step for ASCII, which nearly all names and descriptions are.
  if (/^[\0-\x7f]*$/.test(text)) return new Set(text.toLowerCase().match(asciiTokens));
  const bytes = encoder.encode(foldText(text));
  const tokens = new Set<string>();
  scanRuns(bytes, (start, end, length, unspaced) => {
    const run = decodeText(bytes.subarray(start, end));
    if (length >= MIN_TOKEN_LENGTH) tokens.add(run);
    if (unspaced) for (const word of segmentWords(run)) tokens.add(word);
  });
  return tokens;
}

/** The distinct tokens of a name, which is also split where camelCase starts a new word: `parseHTTPBody` is parse, http, body. */
export const nameTokensOf = (name: string): Set<string> =>
  tokensOf(name.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' '));
