import type { JsonObject, JsonValue } from '../../src/json.ts';
import { encryptReasoning, itemsOf, reasoningIdOf, typeOf } from './openai-responses.ts';
import { Refusal } from './refusal.ts';
import type { ResponseMemory } from './response-memory.ts';
import { firstFault, firstRepeated } from './rules.ts';

// What Responses makes of a conversation: https://platform.openai.com/docs/guides/conversation-state and .../guides/reasoning

const notFound = (id: unknown): Refusal =>
  new Refusal(404, `Item with id '${id}' not found. Items are not persisted when 'store' is set to false.`);

/**
 * The input with its references replaced by what is stored. Throws a Refusal for what is not, and for reasoning that comes neither from
 * there nor with the seal that the model gave it.
 */
export function resolveItems(input: JsonValue | undefined, memory: ResponseMemory): JsonObject[] {
  return itemsOf(input).map((item) => {
    const { id } = item;
    if (item.type === 'item_reference') {
      const found = memory.item(id);
      if (found === undefined) throw notFound(id);
      return found;
    }
    if (item.type !== 'reasoning') return item;
    if (typeof item.encrypted_content !== 'string') {
      if (memory.item(id) === undefined) throw notFound(id);
    } else if (item.encrypted_content !== encryptReasoning(String(id))) {
      throw new Refusal(400, `The encrypted content for item ${id} could not be verified.`, 'invalid_encrypted_content');
    }
    return item;
  });
}

/** A rule for all that a response is to read: what is stored of the earlier ones, and the input. */
type ConversationRule = (conversation: readonly JsonObject[]) => string | undefined;

const itemIdsAreUnique: ConversationRule = (conversation) => {
  const repeated = firstRepeated(conversation.map(({ id }) => id));
  return repeated === undefined ? undefined : `Duplicate item found with id ${repeated}. Remove duplicate items from your input.`;
};

const callIds = (conversation: readonly JsonObject[], type: string): unknown[] =>
  conversation.filter((item) => item.type === type).map((item) => item.call_id);

const everyCallHasItsOutput: ConversationRule = (conversation) => {
  const missing = callIds(conversation, 'function_call').find((id) => !callIds(conversation, 'function_call_output').includes(id));
  return missing === undefined ? undefined : `No tool output found for function call ${missing}.`;
};

const everyOutputHasItsCallBefore: ConversationRule = (conversation) =>
  firstFault(conversation, (item, index) =>
    item.type === 'function_call_output' && !callIds(conversation.slice(0, index), 'function_call').includes(item.call_id)
      ? `No tool call found for function call output with call_id ${item.call_id}.`
      : undefined,
  );

const callIdsAreUnique: ConversationRule = (conversation) =>
  firstFault(['function_call', 'function_call_output'], (type) => {
    const repeated = firstRepeated(callIds(conversation, type));
    return repeated === undefined ? undefined : `Duplicate ${type} with call_id ${repeated}.`;
  });

const approvalsHaveTheirRequest: ConversationRule = (conversation) =>
  firstFault(conversation, (item) =>
    item.type === 'mcp_approval_response' &&
    !conversation.some(({ type, id }) => type === 'mcp_approval_request' && id === item.approval_request_id)
      ? `No approval request found with id ${item.approval_request_id}.`
      : undefined,
  );

/** What came out of the same reasoning, directly after it: only further items of the same reply may stand between. */
const itemsComeWithTheirReasoning: ConversationRule = (conversation) =>
  firstFault(conversation, ({ id, type }, index) => {
    const reasoning = reasoningIdOf(String(id));
    if (reasoning === undefined) return undefined;
    const before = conversation.slice(0, index).findLast((item) => reasoningIdOf(String(item.id)) !== reasoning);
    return before?.id === reasoning
      ? undefined
      : `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${reasoning}'.`;
  });

/** What follows may have lost its id, but not its place. */
const reasoningIsFollowedByItsItem: ConversationRule = (conversation) =>
  firstFault(conversation, (item, index) => {
    if (item.type !== 'reasoning') return undefined;
    const next = conversation[index + 1] ?? {};
    const isOutput = next.type === 'function_call' || (typeOf(next) === 'message' && next.role === 'assistant');
    const isItsOwn = next.id === undefined || reasoningIdOf(String(next.id)) === item.id;
    return isOutput && isItsOwn ? undefined : `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
  });

const CONVERSATION_RULES: readonly ConversationRule[] = [
  itemIdsAreUnique,
  callIdsAreUnique,
  everyCallHasItsOutput,
  everyOutputHasItsCallBefore,
  approvalsHaveTheirRequest,
  itemsComeWithTheirReasoning,
  reasoningIsFollowedByItsItem,
];

/** Throws a Refusal when the model cannot read the conversation. */
export function judgeConversation(conversation: readonly JsonObject[]): void {
  const fault = firstFault(CONVERSATION_RULES, (rule) => rule(conversation));
  if (fault !== undefined) throw new Refusal(400, fault);
}
