import { asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { CallVisibility, ModelTurn, Reply } from './adapter.ts';
import { approvalItem } from './openai-responses-approvals.ts';
import { inlineItems, markItemId } from './openai-responses-echo.ts';
import { callIdOf, callNameOf, isPendingCall, isReasoning, outputOf, withCallId } from './openai-responses-items.ts';
import { readCalls, readWrappedCalls, unwrapCall } from './openai-responses-parallel.ts';
import { sumUsage } from './usage.ts';

/** States after which a call may be half received or was not meant. */
const CUT_STATES: ReadonlySet<unknown> = new Set(['incomplete', 'failed', 'cancelled']);

const isCutItem = (item: JsonObject): boolean =>
  (isPendingCall(item) && item.status === 'incomplete') || objectsOf(item.content).some((part) => part.type === 'refusal');

export function readTurn(response: JsonObject): ModelTurn {
  const output = outputOf(response);
  return {
    calls: output.flatMap((item) => readCalls(item, response.tools)),
    cut: CUT_STATES.has(response.status) || output.some(isCutItem),
    paused: false,
    usage: isJsonObject(response.usage) ? response.usage : undefined,
  };
}

/** What the client sees of an item: nothing of a hidden call, and its own calls out of a wrapper that hides others. */
export function showItem(item: JsonObject, tools: JsonValue | undefined, visibility: CallVisibility, afterHidden: boolean): JsonObject[] {
  const id = callIdOf(item);
  if (id === undefined || !isPendingCall(item)) return [item];
  const wrapped = readWrappedCalls(item, tools) ?? [];
  const visible = wrapped.filter(({ name }) => !visibility.isHidden(name));
  if (visible.length < wrapped.length) {
    return visible.map((call) => withCallId(unwrapCall(item, call), visibility.clientCallId(call.id, true)));
  }
  return visibility.isHidden(callNameOf(item)) ? [] : [withCallId(item, visibility.clientCallId(id, afterHidden))];
}

/** True when an item that begins a later round has to be marked, see `markItemId`. */
export const followsHiddenCall = (item: JsonObject, last: JsonObject | undefined): boolean =>
  isReasoning(last) && typeof item.id === 'string' && item.type !== 'mcp_approval_request';

/** A response without the tools that the client did not send. */
export function hideTools(response: JsonObject, visibility: CallVisibility): JsonObject {
  const tools = objectsOf(response.tools);
  const visible = tools.filter((tool) => tool.type !== 'function' || !visibility.isHidden(asText(tool.name)));
  return visible.length === tools.length ? response : { ...response, tools: visible };
}

/** What a reply has behind the items of the model. */
export const addedItems = ({ responses, inlineResults, approvalRequests = [] }: Reply): JsonObject[] => [
  ...inlineItems(responses.at(-1) ?? {}, inlineResults),
  ...approvalRequests.map(approvalItem),
];

function composeOutput(reply: Reply, visibility: CallVisibility): JsonObject[] {
  const output: JsonObject[] = [];
  let afterHidden = false;
  for (const [round, response] of reply.responses.entries()) {
    const items = outputOf(response);
    const isHiding = items.some((item) => readCalls(item, response.tools).some(({ name }) => visibility.isHidden(name)));
    afterHidden ||= round > 0 || isHiding;
    const shown = items.flatMap((item) => showItem(item, response.tools, visibility, afterHidden));
    const [first] = shown;
    if (round > 0 && first && followsHiddenCall(first, output.at(-1))) shown[0] = { ...first, id: markItemId(String(first.id)) };
    output.push(...shown);
  }
  return [...output, ...addedItems(reply)];
}

/** Fields in which a response repeats its request. */
const REQUEST_FIELDS = ['tools', 'tool_choice', 'previous_response_id'] as const;

/** The response with what it says of its request as that of the first round says it, since that is the request that the client made. */
export function withFirstRequest(first: JsonObject, response: JsonObject): JsonObject {
  const repeated = REQUEST_FIELDS.flatMap((field) => (field in first ? [[field, first[field] as JsonValue]] : []));
  return { ...response, ...Object.fromEntries(repeated) };
}

/** The one response that the client gets. Its id is that of the last round, so that the provider knows the whole turn by it. */
export function composeReply(reply: Reply, visibility: CallVisibility): JsonObject {
  const [first = {}] = reply.responses;
  const last = reply.responses.at(-1) ?? {};
  const { rounds, executions, usageByRound } = reply.report;
  const usage = sumUsage(reply.responses.map((round) => readTurn(round).usage));
  return {
    ...hideTools(withFirstRequest(first, last), visibility),
    output: composeOutput(reply, visibility),
    ...(usage && { usage }),
    omniroute: { rounds, executions, usage_by_round: usageByRound },
  };
}
