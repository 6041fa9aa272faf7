import type { JsonObject, JsonValue } from '../json.ts';
import type { ToolResult } from './adapter.ts';
import { callIdOf, isPendingCall } from './openai-responses-items.ts';
import { readWrappedCalls } from './openai-responses-parallel.ts';

export const toAnswer = ({ callId, content }: ToolResult): JsonObject => ({
  type: 'function_call_output',
  call_id: callId,
  output: content,
});

/** One answer for a wrapper, from the answers to the calls inside of it. */
function answerWrapper(call: JsonObject, answers: ReadonlyMap<string, JsonObject>, tools: JsonValue | undefined): JsonObject[] {
  const results = (readWrappedCalls(call, tools) ?? []).flatMap(({ id, recipient }) => {
    const answer = answers.get(id);
    return answer ? [{ recipient_name: recipient, output: answer.output ?? null }] : [];
  });
  if (results.length === 0) return [];
  return [{ type: 'function_call_output', call_id: callIdOf(call) ?? '', output: JSON.stringify({ results }) }];
}

/** Exactly one answer for each call that has any, in call order, then what answers none of these calls. */
export function answerCalls(reply: readonly JsonObject[], answers: readonly JsonObject[], tools: JsonValue | undefined): JsonObject[] {
  const byId = new Map(answers.map((answer) => [callIdOf(answer) ?? '', answer]));
  const used = new Set<string>();
  const ordered = reply.filter(isPendingCall).flatMap((call) => {
    const id = callIdOf(call) ?? '';
    if (used.has(id)) return [];
    used.add(id);
    for (const wrapped of readWrappedCalls(call, tools) ?? []) used.add(wrapped.id);
    const own = byId.get(id);
    const found = own ? [own] : answerWrapper(call, byId, tools);
    // A call from inside of a program is answered to that program.
    return found.map((answer) => (call.caller && !('caller' in answer) ? { ...answer, caller: call.caller } : answer));
  });
  return [...ordered, ...answers.filter((answer) => !used.has(callIdOf(answer) ?? ''))];
}
