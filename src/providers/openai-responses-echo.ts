import { asText, type JsonObject, objectsOf } from '../json.ts';
import type { ToolResult } from './adapter.ts';
import { answerCalls, toAnswer } from './openai-responses-answers.ts';
import { callIdOf, isAnswer, isModelItem, isReasoning, outputOf, toolNamesOf } from './openai-responses-items.ts';

const INLINE_ID = 'fco_omr_';
const BEHIND_HIDDEN = '_omrh';

/** The results of an inline reply as items of it, in call order. */
export const inlineItems = (response: JsonObject, results: readonly ToolResult[]): JsonObject[] =>
  answerCalls(outputOf(response), results.map(toAnswer), response.tools).map((answer) => ({
    id: `${INLINE_ID}${callIdOf(answer) ?? ''}`,
    ...answer,
    status: 'completed',
  }));

/**
 * Marks the first item that the client sees after hidden calls which reasoning had led to. The API refuses reasoning without the item that
 * followed it, so that the reasoning has to go when a client sends both back.
 */
export const markItemId = (id: string): string => `${id}${BEHIND_HIDDEN}`;

const isMarked = ({ id }: JsonObject): boolean => typeof id === 'string' && id.endsWith(BEHIND_HIDDEN);
const isInlineResult = ({ type, id }: JsonObject): boolean =>
  type === 'function_call_output' && typeof id === 'string' && id.startsWith(INLINE_ID);

function withoutMark(item: JsonObject): JsonObject {
  if (isMarked(item)) return { ...item, id: String(item.id).slice(0, -BEHIND_HIDDEN.length) };
  if (!isInlineResult(item)) return item;
  const { id: _, ...answer } = item;
  return answer;
}

/** Names of the client's tools, with those that it loads by items of its input. */
export const clientToolNamesOf = (request: JsonObject): string[] =>
  toolNamesOf([...objectsOf(request.tools), ...objectsOf(request.input).flatMap((item) => objectsOf(item.tools))]);

/** Tells which items an inline reply had put in: its results, and calls that name no tool of the client and that nobody else answered. */
function inlineItemTest(request: JsonObject, items: readonly JsonObject[]): (item: JsonObject) => boolean {
  const calls = items.filter((item) => item.type === 'function_call');
  const called = new Set(calls.map(callIdOf));
  const answered = new Set(items.filter((item) => isAnswer(item) && !isInlineResult(item)).map(callIdOf));
  const clientTools = new Set(clientToolNamesOf(request));
  return (item) => {
    // A result without its call is the client's answer to a provider that knows the call.
    if (isInlineResult(item)) return called.has(callIdOf(item)) || answered.has(callIdOf(item));
    if (item.type !== 'function_call' || answered.has(callIdOf(item))) return false;
    return !clientTools.has(asText(item.name));
  };
}

/**
 * Takes out what was put into a reply, when a client sends its items back: inline results with their calls, marks of ids, and reasoning whose
 * own call is not there any more. Returns the same object when there is nothing.
 */
export function removeInlineResults(request: JsonObject): JsonObject {
  const items = objectsOf(request.input);
  const isInline = inlineItemTest(request, items);
  if (!items.some((item) => isMarked(item) || isInlineResult(item) || isInline(item))) return request;
  const kept: JsonObject[] = [];
  let isBehindRemoved = false;
  const dropReasoning = () => {
    while (isReasoning(kept.at(-1))) kept.pop();
  };
  for (const item of items) {
    if (isInline(item)) {
      isBehindRemoved = true;
      continue;
    }
    if (isMarked(item) || (isBehindRemoved && (!isModelItem(item) || isReasoning(item)))) dropReasoning();
    isBehindRemoved = false;
    kept.push(withoutMark(item));
  }
  if (isBehindRemoved) dropReasoning();
  return { ...request, input: kept };
}
