import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const TEST = join(import.meta.dirname, '../../dev/test.ts');

describe('npm test', () => {
  it('fails at once when there is no Docker, and still ends with its count', async () => {
    const run = promisify(execFile)(process.execPath, [TEST], { env: { ...process.env, OMNIROUTE_SETUP_DOCKER: 'never' } });
    const failure = (await run.catch((error: unknown) => error)) as { code: number; stdout: string; stderr: string };
    expect(failure.code).toBe(1);
    expect(failure.stderr).toContain('the tests need Docker: see above what to do');
    expect(failure.stdout.trim().split('\n').at(-1)).toBe('0 passed, 1 failed');
  });
});
