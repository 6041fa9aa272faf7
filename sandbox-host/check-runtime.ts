import type { DockerEngine } from './docker-engine.ts';

/** The message is for whoever configures the host. */
export class MissingRuntimeError extends Error {
  override readonly name = 'MissingRuntimeError';
}

/** Rejects with a MissingRuntimeError when Docker has no such runtime, with the engine's own error when it does not answer. */
export async function checkRuntime(engine: Pick<DockerEngine, 'listRuntimes'>, runtime: string | undefined): Promise<void> {
  if (runtime === undefined) return;
  const runtimes = await engine.listRuntimes();
  if (runtimes.includes(runtime)) return;
  throw new MissingRuntimeError(`SANDBOX_RUNTIME: Docker has no runtime ${runtime}; it has ${runtimes.toSorted().join(', ') || 'none'}`);
}
