import { INVISIBLE_CHARACTER } from '../invisible-characters.ts';
import { shorten } from './shorten.ts';

/** A tag or a comment of HTML: highlight markers are tags, too. */
const MARKUP = /<!--[\s\S]*?-->|<\/?[a-z][^<>]*>/gi;
/** Tags between two words that are not one. */
const BREAK = /<\/?(?:br|p|div|li|ul|ol|td|tr|h[1-6])\b[^<>]*>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi;
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' },
  ...{ hellip: '…', ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', middot: '·', bull: '•' },
};
/** Private use shows what a font makes of it; what joins and parts letters stays, since scripts need it. */
const INVISIBLE = new RegExp(String.raw`[\p{Cc}\p{Co}]|${INVISIBLE_CHARACTER}`, 'gu');

function decodeEntity(entity: string, decimal: string | undefined, hexadecimal: string | undefined, name: string | undefined): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? entity;
  const point = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
}

/** What somebody else's text says, as one line without markup and invisible characters, of at most `maxLength` UTF-16 units. */
export function plainText(text: string, maxLength: number): string {
  // What is cut off here is far behind the end of what is kept; it bounds the work.
  const line = text
    .slice(0, 8 * maxLength)
    .replace(BREAK, ' ')
    .replace(MARKUP, '')
    .replace(ENTITY, decodeEntity)
    .replace(/\s+/g, ' ')
    .replace(INVISIBLE, '')
    .trim();
  return shorten(line, maxLength).toWellFormed();
}
