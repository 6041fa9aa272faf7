import { asArray, isJsonObject, type JsonObject, objectsOf } from '../json.ts';
import type { ToolResult, Transcript } from './adapter.ts';
import { answerCalls, toAnswer } from './openai-responses-answers.ts';
import { isModelItem, outputOf } from './openai-responses-items.ts';

/** A suspended turn: the hidden rounds, and the last reply with the answers to its hidden calls. */
export interface SuspendedTurn {
  rounds: JsonObject[];
  reply: JsonObject[];
  answers: JsonObject[];
  /** The tools that the last reply said it had. */
  tools: JsonObject[];
  /** How many items of a model stood at the end of the client's input, right before the turn. */
  precedingModelItems: number;
}

/**
 * What the rounds before a request said, by the request's input. A request that continues a stored reply holds no history, but a suspended
 * turn needs it when the client comes back with the items instead of the reply's id.
 */
const roundsByInput = new WeakMap<object, JsonObject[]>();

const roundsBefore = ({ input }: JsonObject): JsonObject[] => (Array.isArray(input) ? (roundsByInput.get(input) ?? []) : []);

const hasConversation = ({ conversation }: JsonObject): boolean => typeof conversation === 'string' || isJsonObject(conversation);

/** True when the provider knows the turns before this request. */
export const continuesStoredReply = (request: JsonObject): boolean =>
  typeof request.previous_response_id === 'string' || hasConversation(request);

/** How the next request refers to the reply as one that the provider has kept; undefined when it has not. */
function referenceTo(request: JsonObject, response: JsonObject): JsonObject | undefined {
  if (hasConversation(request)) return {};
  const isKept = request.store !== false && response.store !== false && typeof response.id === 'string' && response.id !== '';
  return isKept ? { previous_response_id: response.id ?? null } : undefined;
}

/** The input as a list of items. */
export const inputItemsOf = ({ input }: JsonObject): JsonObject[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOf(input);

const isReferenceOnly = (item: JsonObject): boolean =>
  item.type === 'reasoning' &&
  (typeof item.encrypted_content !== 'string' || item.encrypted_content === '') &&
  asArray(item.content).length === 0;

/** The items of a reply as input: a provider that keeps nothing cannot look up reasoning by its id. */
export const sendableItems = (items: readonly JsonObject[], isKept: boolean): JsonObject[] =>
  isKept ? [...items] : items.filter((item) => !isReferenceOnly(item));

/**
 * The request of the next round. A reply that the provider keeps is referred to by its id, and only the answers are sent; otherwise the
 * reply's items and the answers are added to the input. https://platform.openai.com/docs/guides/conversation-state
 */
export function appendToolResults(request: JsonObject, response: JsonObject, results: readonly ToolResult[]): JsonObject {
  const reply = outputOf(response);
  const answers = answerCalls(reply, results.map(toAnswer), response.tools);
  const reference = referenceTo(request, response);
  const input = reference ? answers : [...inputItemsOf(request), ...sendableItems(reply, false), ...answers];
  roundsByInput.set(input, [...roundsBefore(request), ...reply, ...answers]);
  return { ...request, ...reference, input };
}

export function suspendTurn(
  original: JsonObject,
  request: JsonObject,
  response: JsonObject,
  results: readonly ToolResult[],
): SuspendedTurn & JsonObject {
  const items = inputItemsOf(original);
  return {
    rounds: roundsBefore(request),
    reply: outputOf(response),
    answers: results.map(toAnswer),
    tools: objectsOf(response.tools),
    precedingModelItems: items.length - 1 - items.findLastIndex((item) => !isModelItem(item)),
  };
}

export function readSuspendedTurn(transcript: Transcript): SuspendedTurn {
  const stored = isJsonObject(transcript) ? transcript : {};
  return {
    rounds: objectsOf(stored.rounds),
    reply: objectsOf(stored.reply),
    answers: objectsOf(stored.answers),
    tools: objectsOf(stored.tools),
    precedingModelItems: typeof stored.precedingModelItems === 'number' ? stored.precedingModelItems : 0,
  };
}
