import { DEFAULT_SANDBOX_IMAGES } from '../../src/contract/images.ts';
import { type RunRequest, type RunResult, runRequest } from '../../src/contract/runs.ts';
import type { Sandbox, SkillContext, Workspace } from '../../src/skills/define.ts';
import { SkillError } from '../../src/skills/define.ts';

const notExpected = (what: string) => () => Promise.reject(new SkillError(`The test expects no use of the ${what}`));

const noWorkspace: Workspace = { read: notExpected('workspace'), write: notExpected('workspace') };

/** A skill's context in which nothing can be reached but what the test hands in. */
export function createSkillContext(parts: Partial<SkillContext> = {}): SkillContext {
  return {
    skill: { name: 'test', version: '1.0.0' },
    apiKeyId: 'key-1',
    sessionId: null,
    executionId: '0b9f7c1e-5a55-4d0c-9d3c-3f3e6d0f5a11',
    signal: new AbortController().signal,
    workspace: noWorkspace,
    sandbox: { run: notExpected('sandbox') },
    browser: { browse: notExpected('browser') },
    publicFetch: notExpected('network'),
    webSearch: notExpected('search providers'),
    limits: {
      maxFileBytes: 1_048_576,
      maxHttpResponseBytes: 256_000,
      maxSandboxOutputChars: 100_000,
      sandboxTimeoutMs: 10_000,
      sandboxNetworkEnabled: false,
      allowedSandboxImages: DEFAULT_SANDBOX_IMAGES,
    },
    loadEvalSettings: async () => ({ evalMode: 'sandbox', evalAutoUpgrade: true }),
    runDirect: notExpected('engine'),
    ...parts,
  };
}

/** A sandbox that answers each run with `result` and keeps what it was sent, read as the host reads it. */
export function createRecordingSandbox(result: Partial<RunResult> = {}): Sandbox & { requests: RunRequest[]; signals: AbortSignal[] } {
  const requests: RunRequest[] = [];
  const signals: AbortSignal[] = [];
  return {
    requests,
    signals,
    async run(request, { signal }) {
      const parsed = runRequest.parse(request);
      requests.push(parsed);
      signals.push(signal);
      return {
        id: parsed.id,
        exitCode: 0,
        stdout: '',
        stderr: '',
        truncated: false,
        timedOut: false,
        oomKilled: false,
        killed: false,
        durationMs: 12,
        queuedMs: 1,
        warm: true,
        files: [],
        ...result,
      };
    },
  };
}
