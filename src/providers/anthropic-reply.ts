import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { CallVisibility, ModelTurn, Reply } from './adapter.ts';
import { blocksOf, createBlockView, isCall, isEmptyText, nameOf, normalizeResponse, resultBlock } from './anthropic-blocks.ts';
import { readCallArguments } from './call-arguments.ts';
import { sumUsage } from './usage.ts';

/** Reasons after which a call may be half received or was not meant. */
const CUT_REASONS: ReadonlySet<JsonValue | undefined> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

export function readTurn(response: JsonObject): ModelTurn {
  const calls = blocksOf(normalizeResponse(response)).filter((block) => isCall(block) && nameOf(block) !== '');
  return {
    calls: calls.map((block) => ({ id: String(block.id), name: nameOf(block), arguments: readCallArguments(block.input) })),
    cut: CUT_REASONS.has(response.stop_reason),
    paused: response.stop_reason === 'pause_turn',
    usage: isJsonObject(response.usage) ? response.usage : undefined,
  };
}

/** A reply that shows calls waits for their results, and one that shows none does not. */
function stopReasonFor(reason: JsonValue | undefined, showsCalls: boolean): JsonValue {
  if (reason === 'tool_use' && !showsCalls) return 'end_turn';
  return reason === 'end_turn' && showsCalls ? 'tool_use' : (reason ?? null);
}

/** The one message that the client gets; for a stream it holds what its closing events say. */
export function composeReply({ responses, report, inlineResults }: Reply, visibility: CallVisibility): JsonObject {
  const view = createBlockView(visibility);
  const first = responses[0] ?? {};
  const last = responses.at(-1) ?? {};
  const content = responses.flatMap((response) =>
    blocksOf(normalizeResponse(response))
      .filter((block) => !isEmptyText(block))
      .map(view.show)
      .filter((block) => block !== undefined),
  );
  const usage = sumUsage(responses.map((response) => readTurn(response).usage));
  return {
    ...last,
    id: first.id ?? last.id ?? null,
    content: [...content, ...inlineResults.map(resultBlock)],
    stop_reason: stopReasonFor(last.stop_reason, content.some(isCall)),
    ...(usage && { usage }),
    omniroute: { rounds: report.rounds, executions: report.executions, usage_by_round: report.usageByRound },
  };
}
