import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const DEMO = join(import.meta.dirname, '../../dev/demo.ts');

describe('npm run demo', () => {
  it('shows the tools, the call, the output of the container and the answer', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [DEMO]);
    const primes = '2, 3, 5, 7, 11, 13, 17, 19, 23, 29';
    expect(stdout).toContain('tools that the gateway injected\n  ');
    expect(stdout).toContain('eval_code@1.0.0');
    expect(stdout).toContain('eval_code may run without approval: its policy is auto instead of hybrid');
    expect(stdout).toMatch(/intercepted call of eval_code@1\.0\.0\n {2}const primes/);
    expect(stdout).toContain(`output of the container (node:22-alpine)\n  ${primes}`);
    expect(stdout).toContain(`eval_code answered: ${primes}`);
    expect(stdout).toMatch(/"status":"success"/);
    expect(stdout).toContain('done: everything was stopped, nothing is left');
  });

  it('fails and says why when there is no Docker', async () => {
    const run = promisify(execFile)(process.execPath, [DEMO], { env: { ...process.env, DOCKER_HOST: 'unix:///nowhere.sock' } });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('the demo failed: the execution ended as error:') });
  });
});
