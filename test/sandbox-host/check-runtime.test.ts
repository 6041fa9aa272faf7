import { describe, expect, it } from 'vitest';
import { checkRuntime, MissingRuntimeError } from '../../sandbox-host/check-runtime.ts';

const engineWith = (runtimes: string[]) => ({ listRuntimes: async () => runtimes });
const unreachable = { listRuntimes: () => Promise.reject(new Error('connect ENOENT')) };

describe('checkRuntime', () => {
  it('takes a runtime that Docker has', async () => {
    await expect(checkRuntime(engineWith(['runc', 'runsc']), 'runsc')).resolves.toBeUndefined();
  });

  it('does not ask when none is configured', async () => {
    await expect(checkRuntime(unreachable, undefined)).resolves.toBeUndefined();
  });

  it.each([
    [['runc', 'io.containerd.runc.v2'], 'SANDBOX_RUNTIME: Docker has no runtime runsc; it has io.containerd.runc.v2, runc'],
    [[], 'SANDBOX_RUNTIME: Docker has no runtime runsc; it has none'],
  ])('names those of %j when it is not among them', async (runtimes, message) => {
    await expect(checkRuntime(engineWith(runtimes), 'runsc')).rejects.toThrow(new MissingRuntimeError(message));
  });

  it('tells a Docker that does not answer from one without the runtime', async () => {
    await expect(checkRuntime(unreachable, 'runsc')).rejects.toThrow(new Error('connect ENOENT'));
  });
});
