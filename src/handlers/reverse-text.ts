import * as z from 'zod';
import { defineHandler } from './define-handler.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Turns a text around by what a reader takes for one character, so that emoji and accents survive. */
export const reverseText = defineHandler({
  name: 'reverse-text',
  input: z.object({ text: z.string() }),
  output: z.object({ reversed: z.string() }),
  run: ({ text }) => ({
    reversed: Array.from(graphemes.segment(text), ({ segment }) => segment)
      .reverse()
      .join(''),
  }),
});
