import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { CallVisibility, ModelTurn, Reply, ToolResult } from './adapter.ts';
import { readCallArguments } from './call-arguments.ts';
import { candidateOf, createPartView, isEmptyText, namedCallOf, replyParts, withProviderId } from './gemini-calls.ts';
import { sumUsage } from './usage.ts';

/** Reasons after which a reply is whole. After all others its calls may be half received or were not meant. */
const WHOLE_REASONS: ReadonlySet<JsonValue> = new Set(['STOP', 'FINISH_REASON_UNSPECIFIED']);

/** True when the prompt was refused, so that there is no candidate. */
export const isBlocked = (response: JsonObject): boolean =>
  isJsonObject(response.promptFeedback) && typeof response.promptFeedback.blockReason === 'string';

const usageOf = (response: JsonObject): JsonObject | undefined =>
  isJsonObject(response.usageMetadata) ? response.usageMetadata : undefined;

export function readTurn(response: JsonObject): ModelTurn {
  const finishReason = candidateOf(response)?.finishReason ?? null;
  return {
    calls: replyParts(response).flatMap(({ part, call }) =>
      call ? [{ ...call, arguments: readCallArguments(namedCallOf(part)?.args) }] : [],
    ),
    cut: isBlocked(response) || (finishReason !== null && !WHOLE_REASONS.has(finishReason)),
    paused: false,
    usage: usageOf(response),
  };
}

/** Adds up lists such as `promptTokensDetails`, which count tokens by modality. */
function sumDetails(lists: readonly JsonValue[]): JsonValue {
  const counts = new Map<JsonValue | undefined, number>();
  for (const { modality, tokenCount } of lists.flatMap((list) => objectsOf(list))) {
    counts.set(modality, (counts.get(modality) ?? 0) + (typeof tokenCount === 'number' ? tokenCount : 0));
  }
  return [...counts].map(([modality, tokenCount]) => ({ modality: modality ?? null, tokenCount }));
}

/** The `usageMetadata` of several rounds as one. */
function sumUsageMetadata(usages: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const sum = sumUsage(usages);
  if (sum === undefined) return undefined;
  const details = Object.keys(sum).filter((key) => Array.isArray(sum[key]));
  return { ...sum, ...Object.fromEntries(details.map((key) => [key, sumDetails(usages.map((usage) => usage?.[key] ?? []))])) };
}

function parseContent(content: string): JsonValue {
  try {
    return JSON.parse(content) as JsonValue;
  } catch {
    return content;
  }
}

/** What the model is told of a call. A result that was cut is no JSON any more, and is given as text. */
export function resultPart({ callId, name, content, failed }: ToolResult): JsonObject {
  return { functionResponse: withProviderId({ name, response: { [failed ? 'error' : 'output']: parseContent(content) } }, callId) };
}

/** The parts of all rounds that the client may see, calls with the ids under which it knows them. */
function visibleParts(responses: readonly JsonObject[], visibility: CallVisibility): JsonObject[] {
  const view = createPartView(visibility);
  return responses.flatMap((response) => {
    view.startRound();
    return replyParts(response).flatMap((reply) => {
      const shown = isEmptyText(reply.part) ? undefined : view.show(reply);
      return shown ? [shown] : [];
    });
  });
}

/** What the API calls a reply; a client knows it by these fields. */
export const identityOf = ({ responseId, modelVersion, createTime }: JsonObject): JsonObject => ({
  ...(responseId !== undefined && { responseId }),
  ...(modelVersion !== undefined && { modelVersion }),
  ...(createTime !== undefined && { createTime }),
});

/** The one reply that the client gets; for a stream it holds what its last event says. */
export function composeReply({ responses, report, inlineResults }: Reply, visibility: CallVisibility): JsonObject {
  const response = responses.at(-1) ?? {};
  const candidate = candidateOf(response);
  const parts = [...visibleParts(responses, visibility), ...inlineResults.map(resultPart)];
  const hasContent = parts.length > 0 || isJsonObject(candidate?.content);
  const content = {
    ...(isJsonObject(candidate?.content) && candidate.content),
    role: 'model',
    parts: parts.length > 0 ? parts : [{ text: '' }],
  };
  const shown = { ...candidate, ...(hasContent && { content }) };
  const usageMetadata = sumUsageMetadata(responses.map(usageOf));
  return {
    ...response,
    ...(Object.keys(shown).length > 0 && { candidates: [shown] }),
    ...(usageMetadata && { usageMetadata }),
    ...identityOf({ ...response, ...identityOf(responses[0] ?? {}) }),
    omniroute: { rounds: report.rounds, executions: report.executions, usage_by_round: report.usageByRound },
  };
}
