import { describe, expect, it } from 'vitest';
import { startPart } from '../../dev/stack/part.ts';

describe('a part that ends before it answers', () => {
  it.each([
    ['with its last words', 'error: no space left', ': error: no space left'],
    ['with its last words though they are a log of a fault', '{"level":"error","event":"full"}', ': {"level":"error","event":"full"}'],
    ['without a log of what went well', 'before\n{"level":"info","event":"run.done"}', ''],
    ['with words that are JSON but no log', 'null', ': null'],
  ])('is told of %s', async (_, printed, told) => {
    const program = `require('node:fs').writeSync(1, ${JSON.stringify(`${printed}\n`)}); process.kill(process.pid, 'SIGKILL');`;
    const plan = { name: 'example', command: ['-e', program], env: process.env, readyUrl: 'http://127.0.0.1:1' };
    const error = await startPart(
      plan,
      () => {},
      () => {},
    ).catch((reason: Error) => reason);
    expect((error as Error).message).toBe(`example ended (SIGKILL)${told}`);
  });
});
