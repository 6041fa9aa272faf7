import { isStopWord } from '../skills/scoring-stop-words.ts';
import { tokensOf } from '../skills/tokenize.ts';

/** What is read of a task at most. */
const MAX_TASK_CHARS = 8_000;
export const MAX_DIGEST_WORDS = 24;
const MAX_WORD_CHARS = 24;
const MAX_WORD_CHARS_WITH_DIGITS = 6;
/** Longer texts without a space are rather keys, hashes and encoded data than words. */
const MAX_PIECE_CHARS = 40;

/** What is called a secret, with what follows it. */
const NAMED_SECRET =
  /(?:\b(?:pass(?:word|wd|phrase)?|pwd|secrets?|tokens?|api[\s_-]?keys?|credentials?|authorization|bearer)\b["']?\s*(?:(?:is|=|:)\s*)*["']?)+\S+/giu;

/** Addresses, paths and everything too long or too mixed to be a word. */
const isPrivatePiece = (piece: string): boolean =>
  /@|:\/\/|^[a-z]:\\|^~?\//i.test(piece) ||
  (piece.length > MAX_PIECE_CHARS && /^[\x21-\x7e]+$/.test(piece)) ||
  (piece.length >= 12 && /^[\x21-\x7e]+$/.test(piece) && /\d/.test(piece) && /[a-z]/i.test(piece)) ||
  /[a-z][A-Z]+[a-z]+[A-Z].*[A-Z]/.test(piece);

/** Numbers tell who somebody is, and passwords have digits; what is left is the like of `utf8` and `mp3`. */
function isTelling(word: string): boolean {
  if (word.length > MAX_WORD_CHARS || isStopWord(word)) return false;
  return !/\p{N}/u.test(word) || (word.length <= MAX_WORD_CHARS_WITH_DIGITS && /\p{L}/u.test(word));
}

/**
 * What is kept of a task's text: its distinct content words in alphabetical order, at most 24, folded as for scoring. Stop words, numbers,
 * addresses, URLs, paths, what is called a secret and what looks like one are left out. The order of the text is lost on purpose.
 */
export function digestTask(text: string): string[] {
  const pieces = text
    .slice(0, MAX_TASK_CHARS)
    .replace(NAMED_SECRET, ' ')
    .split(/\s+/)
    .filter((piece) => !isPrivatePiece(piece));
  const words = [...tokensOf(pieces.join(' '))].filter(isTelling);
  return words.slice(0, MAX_DIGEST_WORDS).sort();
}
