import { runAttempt } from '../../src/execution/run-attempt.ts';
import type { Handler } from '../../src/handlers/define-handler.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { type SkillContext, SkillError } from '../../src/skills/define.ts';
import { createSkillContext } from '../support/skill-context.ts';

/** Of a skill that says nothing about it. */
const TIMEOUT_MS = 30_000;

/**
 * Runs a handler the way the gateway does, for its tests: `expect(await runHandler(wordCount, { text: 'a b' })).toEqual({ words: 2 })`.
 * Answers the output as JSON carries it. Rejects with a SkillError whose message is the one that the model reads, or with what a bug throws.
 * `parts` is what the handler uses of its context: a `publicFetch`, a `workspace`, an `apiKeyId`; without them nothing can be reached.
 */
export async function runHandler<Output extends JsonObject>(
  handler: Handler<Output>,
  input: JsonValue,
  parts: Partial<SkillContext> = {},
): Promise<Output> {
  const bugs: unknown[] = [];
  const result = await runAttempt((signal) => handler.run(input, createSkillContext({ ...parts, signal })), {
    timeoutMs: TIMEOUT_MS,
    clientSignal: parts.signal ?? new AbortController().signal,
    onUnexpected: (bug) => bugs.push(bug),
  });
  if (result.status === 'success') return result.output as Output;
  throw bugs[0] ?? new SkillError(result.errorMessage);
}
