import { asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { CallVisibility, ModelTurn, Reply, ToolCall } from './adapter.ts';
import { readCallArguments } from './call-arguments.ts';
import { sumUsage } from './usage.ts';

/** The name of a tool definition or of a call. */
export const toolName = (tool: JsonObject): string | undefined => {
  const named = isJsonObject(tool.function) ? tool.function : isJsonObject(tool.custom) ? tool.custom : undefined;
  return typeof named?.name === 'string' ? named.name : undefined;
};

export const messageOf = (response: JsonObject): JsonObject => {
  const choice = objectsOf(response.choices)[0];
  return isJsonObject(choice?.message) ? choice.message : {};
};

const finishReasonOf = (response: JsonObject): JsonValue => objectsOf(response.choices)[0]?.finish_reason ?? null;

/** Reasons after which a call may be half received or was not meant. */
const CUT_REASONS: ReadonlySet<JsonValue> = new Set(['length', 'content_filter']);

function readCall(call: JsonObject): ToolCall[] {
  const named = isJsonObject(call.function) ? call.function : undefined;
  if (typeof call.id !== 'string' || typeof named?.name !== 'string') return [];
  return [{ id: call.id, name: named.name, arguments: readCallArguments(named.arguments) }];
}

/** Gives every call an id of its own that is text, and arguments that are text, as OpenAI has them; emulators leave them out, repeat them or send objects. */
export function normalizeResponse(response: JsonObject): JsonObject {
  const choice = objectsOf(response.choices)[0];
  const message = messageOf(response);
  const calls = objectsOf(message.tool_calls);
  const ids = calls.map((call) => call.id);
  const isRegular = calls.every(
    (call, position) =>
      ids.indexOf(call.id) === position &&
      typeof call.id === 'string' &&
      isJsonObject(call.function) &&
      typeof call.function.arguments === 'string',
  );
  if (choice === undefined || isRegular) return response;
  const regular = calls.map((call, position) => {
    const named = isJsonObject(call.function) ? call.function : {};
    const text = typeof named.arguments === 'string' ? named.arguments : JSON.stringify(named.arguments ?? {});
    const given = typeof call.id === 'string' && call.id !== '' ? call.id : `call_${asText(response.id)}_${position}`;
    const id = ids.indexOf(call.id) === position ? given : `${given}_${position}`;
    return { ...call, id, type: 'function', function: { ...named, arguments: text } };
  });
  return { ...response, choices: [{ ...choice, message: { ...message, tool_calls: regular } }] };
}

export function readTurn(response: JsonObject): ModelTurn {
  return {
    calls: objectsOf(messageOf(response).tool_calls).flatMap(readCall),
    cut: CUT_REASONS.has(finishReasonOf(response)) || typeof messageOf(response).refusal === 'string',
    paused: false,
    usage: isJsonObject(response.usage) ? response.usage : undefined,
  };
}

/** The fields in which a model speaks; over several rounds their texts follow each other without a separator, as in a stream. */
const SPOKEN_FIELDS = ['content', 'reasoning_content', 'reasoning'] as const;

function composeMessage(responses: readonly JsonObject[], last: JsonObject): JsonObject {
  const message = { ...last };
  for (const field of SPOKEN_FIELDS) {
    const spoken = responses.map((response) => messageOf(response)[field]).filter((text) => typeof text === 'string');
    if (spoken.length > 0) message[field] = spoken.join('');
  }
  return message;
}

/** The one chat completion that the client gets; for a stream it holds what its closing events say. */
export function composeReply(reply: Reply, visibility: CallVisibility): JsonObject {
  const { responses, report, inlineResults } = reply;
  const [first = {}] = responses;
  const response = responses.at(-1) ?? {};
  const message = composeMessage(responses, messageOf(response));
  const calls = objectsOf(message.tool_calls);
  const visible = calls.filter((call) => !visibility.isHidden(toolName(call) ?? ''));
  const afterHidden = responses.length > 1 || visible.length < calls.length;
  const shown = visible.map((call) => ({ ...call, id: visibility.clientCallId(String(call.id), afterHidden) }));
  if (shown.length > 0) message.tool_calls = shown;
  else delete message.tool_calls;
  if (message.content === undefined) message.content = null;
  const reason = finishReasonOf(response);
  const finishReason =
    reason === 'tool_calls' && shown.length === 0 ? 'stop' : reason === 'stop' && shown.length > 0 ? 'tool_calls' : reason;
  const usage = sumUsage(responses.map((round) => readTurn(round).usage));
  return {
    ...response,
    id: first.id ?? response.id ?? null,
    created: first.created ?? response.created ?? null,
    choices: [{ ...objectsOf(response.choices)[0], message, finish_reason: finishReason }],
    ...(usage && { usage }),
    ...(inlineResults.length > 0 && {
      tool_results: inlineResults.map(({ callId, content }) => ({ tool_call_id: callId, output: content })),
    }),
    omniroute: { rounds: report.rounds, executions: report.executions, usage_by_round: report.usageByRound },
  };
}
