import { DIRECTION_MARKS } from '../src/invisible-characters.ts';

/** Characters that steer a terminal or turn around what is read: controls, and marks of the writing direction. */
const STEERING = new RegExp(String.raw`[\p{Cc}${DIRECTION_MARKS}]`, 'gu');

/** C0 controls have pictures of their own in Unicode. */
function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/** Text of strangers as a terminal may be given it: lines and tabs stay, whatever else would steer the terminal becomes visible. */
export const cleanText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(STEERING, (character) => (character === '\n' || character === '\t' ? character : picture(character)));

/** The same on one line. */
export const cleanLine = (text: string): string => cleanText(text.replace(/\s+/g, ' ').trim());
