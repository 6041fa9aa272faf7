import type { JsonObject } from '../json.ts';
import type { ProviderAdapter, Transcript } from './adapter.ts';
import { answerCalls } from './openai-responses-answers.ts';
import { callIdOf, isAnswer, isModelItem, withCallId } from './openai-responses-items.ts';
import { continuesStoredReply, inputItemsOf, readSuspendedTurn, sendableItems } from './openai-responses-rounds.ts';

type TurnOf = Parameters<ProviderAdapter['restoreTurns']>[1];

/** Ids of the calls that the input shows or answers. */
export const historyCallIds = (request: JsonObject): string[] => inputItemsOf(request).flatMap((item) => callIdOf(item) ?? []);

/** Where the items of a turn stand in the input, up to the last answer to it. */
interface Span {
  start: number;
  end: number;
}

/**
 * Puts suspended turns back. A client that echoes the items gets the whole turn in their place; one that sends the reply's id has a
 * provider that knows the turn, so that only the answers to the hidden calls are missing.
 */
export function restoreTurns(request: JsonObject, turnOf: TurnOf): JsonObject {
  const items = inputItemsOf(request);
  const marks = items.map((item) => {
    const id = callIdOf(item);
    return id === undefined ? undefined : turnOf(id);
  });
  if (marks.every((mark) => mark === undefined)) return request;
  const unmarked = items.map((item, index) => {
    const mark = marks[index];
    return mark ? withCallId(item, mark.id) : item;
  });

  function restoreTurn(transcript: Transcript, from: number, anchor: number): Span & { replacement: JsonObject[] } {
    const { rounds, reply, answers, tools, precedingModelItems } = readSuspendedTurn(transcript);
    const ids = new Set([...rounds, ...reply].flatMap((item) => (typeof item.id === 'string' ? [item.id] : [])));
    const isOfModel = (item: JsonObject) => isModelItem(item) || (typeof item.id === 'string' && ids.has(item.id));
    let start = anchor;
    while (start > from && isOfModel(items[start - 1] as JsonObject)) start -= 1;
    start = Math.min(anchor, start + precedingModelItems);
    const end = marks.findLastIndex((mark) => mark?.transcript === transcript) + 1;

    const own: JsonObject[] = [];
    const others: JsonObject[] = [];
    for (let index = start; index < end; index += 1) {
      const item = items[index] as JsonObject;
      const isOwnAnswer = marks[index]?.transcript === transcript && isAnswer(item);
      if (isOwnAnswer) own.push(unmarked[index] as JsonObject);
      else if (!isOfModel(item)) others.push(unmarked[index] as JsonObject);
    }
    const isEchoed = own.length + others.length < end - start;
    const shown = !isEchoed && continuesStoredReply(request) ? [] : sendableItems([...rounds, ...reply], request.store !== false);
    return { start, end, replacement: [...shown, ...answerCalls(reply, [...answers, ...own], tools), ...others] };
  }

  const restored: JsonObject[] = [];
  for (let position = 0; position < items.length; ) {
    const anchor = marks.findIndex((mark, index) => index >= position && mark?.transcript !== undefined);
    const transcript = marks[anchor]?.transcript;
    if (transcript === undefined) {
      restored.push(...unmarked.slice(position));
      break;
    }
    const { start, end, replacement } = restoreTurn(transcript, position, anchor);
    restored.push(...unmarked.slice(position, start), ...replacement);
    position = end;
  }
  return { ...request, input: restored };
}
