import { type Part, type PartPlan, startPart } from './part.ts';

export interface PartGroup {
  /** Starts parts side by side. Rejects with the first failure, when all have been started or have failed. */
  start(plans: readonly PartPlan[]): Promise<void>;
  /** Resolves, when one of the parts dies, to the sentence that says which and how. */
  firstEnd(): Promise<string>;
  /** Stops the parts, the last started first. */
  stop(): Promise<void>;
}

/** Processes that live and die together. `onSpawn` is told each one's id before it has done anything. */
export function createPartGroup(log: (part: string, line: string) => void, onSpawn: (pid: number) => void): PartGroup {
  const parts: Part[] = [];
  return {
    async start(plans) {
      const started = await Promise.allSettled(plans.map((plan) => startPart(plan, (line) => log(plan.name, line), onSpawn)));
      for (const result of started) if (result.status === 'fulfilled') parts.push(result.value);
      const failed = started.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    firstEnd: () => Promise.race(parts.map((part) => part.ended)),
    async stop() {
      for (const part of parts.toReversed()) await part.stop();
    },
  };
}
