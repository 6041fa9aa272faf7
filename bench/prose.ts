import { createRandom } from './random.ts';

const SYLLABLES = 'ba con der est fi gra hol in jec ka lor men nor ost pre qui re sal ter un ver wil xen yar zet tion ing al'.split(' ');
const SMALL_WORDS = 'the and for with this that from you are not can have what your which when there into about'.split(' ');
const VOCABULARY_SIZE = 3_000;

/** Words with a meaning, the frequent ones first. */
export const TOPIC_WORDS: readonly string[] = (() => {
  const random = createRandom(1);
  const words = new Set<string>();
  while (words.size < VOCABULARY_SIZE) words.add(`${random.pick(SYLLABLES)}${random.pick(SYLLABLES)}${random.pick(SYLLABLES)}`);
  return [...words];
})();

/** A text of so many characters. A word's frequency falls with its place in the vocabulary, as Zipf found. */
export function writeProse(length: number, seed: number): string {
  const random = createRandom(seed);
  let text = '';
  while (text.length < length) {
    const word = random.next() < 0.5 ? random.pick(SMALL_WORDS) : TOPIC_WORDS[Math.floor(VOCABULARY_SIZE ** random.next()) - 1];
    text += `${word} `;
  }
  return text.slice(0, length);
}
