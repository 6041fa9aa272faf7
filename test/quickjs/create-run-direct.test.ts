import { expect, it } from 'vitest';
import { createRunDirect } from '../../src/quickjs/create-run-direct.ts';
import { loadQuickJs } from '../support/load-quickjs.ts';

const never = new AbortController().signal;

it('runs a program that waits for its turn only if its caller is still there then', async () => {
  const leaving = new AbortController();
  let looks = 0;
  const runDirect = createRunDirect({
    loadQuickJs,
    now() {
      looks += 1;
      leaving.abort(new Error('gone'));
      return 0;
    },
    random: Math.random,
  });
  const programs = [
    runDirect('console.log(1)', { maxOutputChars: 100, signal: never }),
    runDirect('console.log(2)', { maxOutputChars: 100, signal: leaving.signal }),
    runDirect('console.log(3)', { maxOutputChars: 100, signal: never }),
  ];
  expect(await Promise.allSettled(programs)).toMatchObject([
    { value: { stdout: '1\n', end: { kind: 'exited', exitCode: 0 } } },
    { status: 'rejected', reason: new Error('gone') },
    { value: { stdout: '3\n' } },
  ]);
  // Each program that runs looks at the clock when it begins and when it ends.
  expect(looks).toBe(4);
});
