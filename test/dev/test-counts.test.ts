import { describe, expect, it } from 'vitest';
import { countTests } from '../../dev/test-counts.ts';

const report = (numPassedTests: number, numFailedTests: number, files: [string, ...string[]][]): string =>
  JSON.stringify({
    numPassedTests,
    numFailedTests,
    testResults: files.map(([status, ...tests]) => ({ status, assertionResults: tests.map((test) => ({ status: test })) })),
  });

describe('countTests', () => {
  it.each([
    ['all passed', report(2, 0, [['passed', 'passed', 'passed']]), true, { passed: 2, failed: 0 }],
    ['one failed', report(1, 1, [['failed', 'passed', 'failed']]), false, { passed: 1, failed: 1 }],
    ['a file cannot be loaded', report(1, 0, [['failed'], ['passed', 'passed']]), false, { passed: 1, failed: 1 }],
    ['a hook failed after the tests', report(1, 0, [['failed', 'passed']]), false, { passed: 1, failed: 1 }],
    ['one failed and another file cannot be loaded', report(0, 1, [['failed'], ['failed', 'failed']]), false, { passed: 0, failed: 2 }],
    ['nobody caught a rejection', report(1, 0, [['passed', 'passed']]), false, { passed: 1, failed: 1 }],
    ['no test was found', report(0, 0, []), true, { passed: 0, failed: 1 }],
    ['there is no report, since Vitest crashed', undefined, false, { passed: 0, failed: 1 }],
  ])('when %s', (_, text, succeeded, counts) => {
    expect(countTests(text, succeeded)).toEqual(counts);
  });
});
