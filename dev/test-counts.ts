import { z } from 'zod';

export interface Counts {
  passed: number;
  failed: number;
}

const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

/**
 * Counts the tests of Vitest's JSON report. What makes Vitest fail beside a test counts as one failure: a file that cannot be
 * loaded, a rejection that nobody caught, a crash before there was a report; so does a run without any test.
 */
export function countTests(reportText: string | undefined, succeeded: boolean): Counts {
  if (reportText === undefined) return { passed: 0, failed: 1 };
  const { numPassedTests: passed, numFailedTests, testResults } = report.parse(JSON.parse(reportText));
  const brokenFiles = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = numFailedTests + brokenFiles;
  const failedOtherwise = failed === 0 && (!succeeded || passed === 0);
  return { passed, failed: failedOtherwise ? 1 : failed };
}
