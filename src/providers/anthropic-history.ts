import { asArray, asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { ProviderAdapter, ToolResult, Transcript } from './adapter.ts';
import { assistantMessages, blocksOf, isCall, isEmptyText, nameOf, resultBlock } from './anthropic-blocks.ts';
import { isThinking, unmarkThinking } from './anthropic-thinking.ts';

const isResult = (block: JsonObject): boolean => block.type === 'tool_result';

/** One user message with all results, which come before everything else in it. */
const userMessage = (results: readonly JsonObject[], rest: readonly JsonObject[] = []): JsonObject => ({
  role: 'user',
  content: [...results, ...rest],
});

/** The request of the next round. A reply that only paused is sent back as it is, to be gone on with. */
export function appendToolResults(request: JsonObject, response: JsonObject, results: readonly ToolResult[]): JsonObject {
  const added = [...assistantMessages(response), ...(results.length > 0 ? [userMessage(results.map(resultBlock))] : [])];
  return { ...request, messages: [...asArray(request.messages), ...added] };
}

export const suspendTurn: ProviderAdapter['suspendTurn'] = (original, request, response, results) => ({
  messages: [...asArray(request.messages).slice(asArray(original.messages).length), ...assistantMessages(response)],
  results: results.map(resultBlock),
});

const callsOf = (message: JsonObject | undefined): JsonObject[] => (message?.role === 'assistant' ? blocksOf(message).filter(isCall) : []);

export const historyCallIds = (request: JsonObject): string[] =>
  objectsOf(request.messages)
    .flatMap(callsOf)
    .flatMap(({ id }) => (typeof id === 'string' ? [id] : []));

type TurnOf = Parameters<ProviderAdapter['restoreTurns']>[1];

const transcriptOf = (message: JsonObject, turnOf: TurnOf): Transcript | undefined =>
  callsOf(message)
    .map(({ id }) => turnOf(asText(id))?.transcript)
    .find((transcript) => transcript !== undefined);

/** The block under the id that the provider knows. */
function withOriginalId(block: JsonObject, turnOf: TurnOf): JsonObject {
  const field = isCall(block) ? 'id' : isResult(block) ? 'tool_use_id' : undefined;
  const id = field === undefined ? undefined : turnOf(asText(block[field]))?.id;
  return field === undefined || id === undefined ? block : { ...block, [field]: id };
}

const withOriginalIds = (message: JsonObject, turnOf: TurnOf): JsonObject =>
  Array.isArray(message.content)
    ? { ...message, content: message.content.map((block) => (isJsonObject(block) ? withOriginalId(block, turnOf) : block)) }
    : message;

/** The user messages with results that directly follow a message. The provider reads them as one. */
function answersAfter(messages: readonly JsonObject[], position: number): JsonObject[] {
  const isAnswer = (message: JsonObject) => message.role === 'user' && blocksOf(message).some(isResult);
  const end = messages.findIndex((message, at) => at >= position && !isAnswer(message));
  return messages.slice(position, end === -1 ? undefined : end);
}

function inCallOrder(results: readonly JsonObject[], order: readonly (JsonValue | undefined)[]): JsonObject[] {
  const called = order.flatMap((id) => results.filter((result) => result.tool_use_id === id));
  return [...called, ...results.filter((result) => !called.includes(result))];
}

/** Puts suspended turns back into the messages: the hidden rounds with their thinking, then one message with all results in call order. */
export function restoreTurns(request: JsonObject, turnOf: TurnOf): JsonObject {
  const messages = objectsOf(request.messages);
  const restored: JsonObject[] = [];
  for (let position = 0; position < messages.length; ) {
    const message = messages[position] as JsonObject;
    position += 1;
    const transcript = transcriptOf(message, turnOf);
    if (!isJsonObject(transcript)) {
      restored.push(withOriginalIds(message, turnOf));
      continue;
    }
    const answers = answersAfter(messages, position);
    position += answers.length;
    const blocks = answers.flatMap(blocksOf).map((block) => withOriginalId(block, turnOf));
    const hidden = objectsOf(transcript.messages);
    const order = callsOf(hidden.at(-1)).map(({ id }) => id);
    const results = inCallOrder([...objectsOf(transcript.results), ...blocks.filter(isResult)], order);
    const rest = blocks.filter((block) => !isResult(block));
    restored.push(...hidden, ...(results.length + rest.length > 0 ? [userMessage(results, rest)] : []));
  }
  return { ...request, messages: restored };
}

const endsInThinking = (blocks: readonly JsonObject[]): boolean => blocks.length > 0 && isThinking(blocks.at(-1) as JsonObject);

/**
 * The blocks of a changed message with the thinking that still fits: none without a call, since only beside calls it is required; of a
 * reply that was begun anew what is marked; and nothing from behind a block that was taken out, since the provider checks what of its
 * thinking follows on what.
 */
function keepFitting(blocks: readonly JsonObject[], isKept: (block: JsonObject) => boolean): JsonObject[] {
  const hasCalls = blocks.some((block) => isCall(block) && isKept(block));
  const isMarked = blocks.some((block) => unmarkThinking(block) !== undefined);
  const firstGap = blocks.findIndex((block) => !isKept(block));
  const fits = (position: number) => hasCalls && (firstGap === -1 || position < firstGap);
  const content = blocks.flatMap((block, position): JsonObject[] => {
    if (!isThinking(block)) return isKept(block) && !isEmptyText(block) ? [block] : [];
    const thinking = isMarked ? unmarkThinking(block) : block;
    return thinking && fits(position) ? [thinking] : [];
  });
  while (endsInThinking(content)) content.pop();
  return content;
}

/**
 * Takes out what only the client was meant to see: results of an inline reply with their calls, which are those that nobody answered and
 * that name no tool of the client, and thinking from behind hidden calls. A reply that ends in thinking is one whose calls were hidden.
 */
export function removeInlineResults(request: JsonObject): JsonObject {
  const messages = objectsOf(request.messages);
  const clientTools = new Set(objectsOf(request.tools).map(nameOf));
  let changed = false;
  const cleaned = messages.flatMap((message, position) => {
    if (message.role !== 'assistant' || !Array.isArray(message.content)) return [message];
    const blocks = blocksOf(message);
    const answered = new Set(
      answersAfter(messages, position + 1)
        .flatMap(blocksOf)
        .map((block) => block.tool_use_id),
    );
    const isClients = (call: JsonObject) => answered.has(call.id) || clientTools.has(nameOf(call)) || typeof call.toolset_name === 'string';
    const isKept = (block: JsonObject) => !isResult(block) && (!isCall(block) || isClients(block));
    const isOpenEnd = endsInThinking(blocks) && position < messages.length - 1;
    if (blocks.every(isKept) && !blocks.some(unmarkThinking) && !isOpenEnd) return [message];
    changed = true;
    const content = keepFitting(blocks, isKept);
    return content.length > 0 ? [{ ...message, content }] : [];
  });
  return changed ? { ...request, messages: cleaned } : request;
}
