import { expect, it } from 'vitest';
import { runHandler } from '../../test/handlers/run-handler.ts';
import { wordCount } from './word-count.ts';

it('counts words', async () => {
  expect(await runHandler(wordCount, { text: 'one  two\nthree' })).toEqual({ words: 3 });
  await expect(runHandler(wordCount, { text: 3 })).rejects.toThrow('text: Invalid input: expected string, received number');
});
