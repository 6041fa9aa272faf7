import * as z from 'zod';
import { defineHandler } from '../../src/handlers/define-handler.ts';

export const wordCount = defineHandler({
  name: 'word-count',
  input: z.object({ text: z.string() }),
  output: z.object({ words: z.number() }),
  run: ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length }),
});
