import type { JsonObject, JsonValue } from '../json.ts';
import type { SkillContext } from '../skills/define.ts';

/** What a skill of any kind comes down to when it is run. */
export interface Runnable {
  /** The input as `run` wants it, or the message of the first fault, which names its path. */
  parse(input: JsonValue): { success: true; data: unknown } | { success: false; error: string };
  /** Whether a run with this data changes nothing anywhere. */
  isReadOnly(data: unknown): boolean;
  /** Calls of one turn with the same key run one after the other, in their order. */
  sequenceKey?(data: unknown): string | undefined;
  /** Rejects with a SkillError when the caller should read why. */
  run(data: unknown, context: SkillContext): Promise<JsonObject>;
}
