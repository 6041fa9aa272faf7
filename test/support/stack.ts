import { rmSync } from 'node:fs';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
import type { Environment } from '../../dev/stack/settings.ts';
import { type StackOptions, startStack } from '../../dev/stack.ts';

export interface TestStack {
  url: string;
  managementToken: string;
  /** With the default scopes. */
  apiKey: string;
  dataDir: string;
  /** What the parts have printed, each line with the part's name in front. */
  lines: string[];
  /** As `Stack.ended`. */
  ended: Promise<string | undefined>;
  /** Stops every part and removes the data, unless `DATA_DIR` was given. */
  stop(): Promise<void>;
}

/** The whole stack on free ports, with its data in a new folder and the scripted model as its provider. `env` is put on top. */
export async function startTestStack(
  env: Environment = {},
  options: Pick<StackOptions, 'workerEntry' | 'wrangler'> = {},
): Promise<TestStack> {
  const base = await isolateEnvironment(process.env);
  const dataDir = env.DATA_DIR ?? base.DATA_DIR;
  const lines: string[] = [];
  const removeData = (): void => rmSync(base.DATA_DIR, { recursive: true, force: true });
  try {
    const stack = await startStack({ env: { ...base, ...env }, log: (part, line) => lines.push(`[${part}] ${line}`), ...options });
    return {
      url: stack.url,
      managementToken: stack.managementToken,
      apiKey: stack.apiKey,
      dataDir,
      lines,
      ended: stack.ended,
      async stop() {
        await stack.stop();
        removeData();
      },
    };
  } catch (error) {
    removeData();
    const { message } = error as Error;
    throw new Error([message, ...lines].join('\n'), { cause: error });
  }
}
