import { asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { ProviderAdapter } from './adapter.ts';
import { toolName } from './openai-chat-reply.ts';

/** The tool messages that directly follow a message, and the position behind them. */
function resultsAfter(messages: readonly JsonObject[], position: number): { results: JsonObject[]; next: number } {
  let next = position;
  while (messages[next]?.role === 'tool') next += 1;
  return { results: messages.slice(position, next), next };
}

function inCallOrder(results: readonly JsonObject[], order: readonly JsonValue[]): JsonObject[] {
  const called = order.flatMap((id) => results.filter((result) => result.tool_call_id === id));
  return [...called, ...results.filter((result) => !called.includes(result))];
}

/** Puts suspended turns back into the messages: the hidden rounds, then all results in call order. */
export function restoreTurns(request: JsonObject, turnOf: Parameters<ProviderAdapter['restoreTurns']>[1]): JsonObject {
  const messages = objectsOf(request.messages);
  const restored: JsonObject[] = [];
  for (let position = 0; position < messages.length; ) {
    const message = messages[position] as JsonObject;
    position += 1;
    const calls = objectsOf(message.tool_calls);
    const turns = calls.map((call) => turnOf(asText(call.id)));
    if (!turns.some((turn) => turn !== undefined)) {
      restored.push(message);
      continue;
    }
    const { results, next } = resultsAfter(messages, position);
    position = next;
    const own = results.map((result) => ({
      ...result,
      tool_call_id: turnOf(asText(result.tool_call_id))?.id ?? result.tool_call_id ?? null,
    }));
    const transcript = turns.find((turn) => turn?.transcript !== undefined)?.transcript;
    if (isJsonObject(transcript)) {
      const hidden = objectsOf(transcript.messages);
      const order = objectsOf(hidden.at(-1)?.tool_calls).map((call) => call.id ?? null);
      restored.push(...hidden, ...inCallOrder([...objectsOf(transcript.results), ...own], order));
    } else {
      restored.push({ ...message, tool_calls: calls.map((call, index) => ({ ...call, id: turns[index]?.id ?? call.id ?? null })) }, ...own);
    }
  }
  return { ...request, messages: restored };
}

/** A call without a result that names no tool of the client was shown by an inline reply; a provider would refuse the history. */
export function removeInlineResults(request: JsonObject): JsonObject {
  const messages = objectsOf(request.messages);
  const clientTools = new Set(objectsOf(request.tools).flatMap((tool) => toolName(tool) ?? []));
  let changed = 'tool_results' in request;
  const cleaned = messages.flatMap((message, position) => {
    const calls = objectsOf(message.tool_calls);
    if (calls.length === 0 && !('tool_results' in message)) return [message];
    const answered = new Set(resultsAfter(messages, position + 1).results.map((result) => result.tool_call_id ?? null));
    const kept = calls.filter((call) => answered.has(call.id ?? null) || clientTools.has(toolName(call) ?? ''));
    if (kept.length === calls.length && !('tool_results' in message)) return [message];
    changed = true;
    const { tool_results: _, tool_calls: __, ...rest } = message;
    if (kept.length > 0) return [{ ...rest, tool_calls: kept }];
    return typeof rest.content === 'string' && rest.content !== '' ? [rest] : [];
  });
  if (!changed) return request;
  const { tool_results: _, ...rest } = request;
  return { ...rest, messages: cleaned };
}
