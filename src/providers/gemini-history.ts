import { isJsonObject, type JsonObject, objectsOf } from '../json.ts';
import type { ProviderAdapter, ToolResult, Transcript } from './adapter.ts';
import { contentOf, isSigned, namedCallOf, replyParts, withoutItsSigner, withProviderId } from './gemini-calls.ts';
import { fieldOf, objectOf, repeated, withField } from './gemini-fields.ts';
import { resultPart } from './gemini-reply.ts';
import { addedContents, functionNames } from './gemini-request.ts';

const responseOf = (part: JsonObject): JsonObject | undefined => objectOf(part, 'functionResponse');
const idOf = (named: JsonObject | undefined): string => (typeof named?.id === 'string' ? named.id : '');

/**
 * One reply of the model in a history, and the results that follow it. Clients of streams keep a content for each chunk, and some send a
 * content for each result.
 */
interface HistoryTurn {
  model: JsonObject[];
  results: JsonObject[];
  /** What stands beside the results: it would break their order. */
  beside: JsonObject[];
  /** The contents that this was read from. */
  contents: JsonObject[];
}

function readHistory(request: JsonObject): HistoryTurn[] {
  const contents = repeated(request.contents);
  const turns: HistoryTurn[] = [];
  for (let position = 0; position < contents.length; ) {
    const start = position;
    while (contents[position]?.role === 'model') position += 1;
    const model = contents.slice(start, position);
    const results: JsonObject[] = [];
    const beside: JsonObject[] = [];
    for (; position < contents.length && contents[position]?.role !== 'model'; position += 1) {
      const parts = repeated(contents[position]?.parts);
      if (!parts.some(responseOf)) break;
      for (const part of parts) (responseOf(part) ? results : beside).push(part);
    }
    if (position === start) position += 1;
    turns.push({ model, results, beside, contents: contents.slice(start, position) });
  }
  return turns;
}

/** True when a history has calls or results in it; most have none, and are not looked at any further. */
function hasFunctions(request: JsonObject): boolean {
  for (const content of repeated(request.contents)) {
    for (const part of repeated(content.parts)) {
      if (fieldOf(part, 'functionCall') !== undefined || fieldOf(part, 'functionResponse') !== undefined) return true;
    }
  }
  return false;
}

const callParts = (turn: HistoryTurn): JsonObject[] => turn.model.flatMap((content) => repeated(content.parts).filter(namedCallOf));

/** Ids of calls and of results: a client may keep either. */
export function historyCallIds(request: JsonObject): string[] {
  if (!hasFunctions(request)) return [];
  const named = readHistory(request).flatMap((turn) => [...callParts(turn).map(namedCallOf), ...turn.results.map(responseOf)]);
  return named.map(idOf).filter((id) => id !== '');
}

/** The request of the next round: the reply, then all results in one content. */
export const roundContents = (response: JsonObject, results: readonly ToolResult[]): JsonObject[] => [
  contentOf(response),
  ...(results.length > 0 ? [{ role: 'user', parts: results.map(resultPart) }] : []),
];

export function suspendTurn(original: JsonObject, request: JsonObject, response: JsonObject, results: readonly ToolResult[]): Transcript {
  const calls = replyParts(response).flatMap(({ call }) => (call ? [call] : []));
  const resultFor = (id: string) => results.find((result) => result.callId === id);
  return {
    contents: [...addedContents(original, request), contentOf(response)],
    calls: calls.map(({ id, name }) => {
      const result = resultFor(id);
      return { id, name, ...(result && { result: resultPart(result) }) };
    }),
  };
}

/** The part with the id that the provider knows. */
function withRestoredId(part: JsonObject, field: 'functionCall' | 'functionResponse', id: string | undefined): JsonObject {
  const named = objectOf(part, field);
  return named === undefined || id === undefined ? part : withField(part, field, withProviderId(named, id));
}

/** All results of a turn in the order of its calls: those of hidden calls, and the client's by id, or by name where it dropped the ids. */
function inCallOrder(calls: readonly JsonObject[], own: readonly JsonObject[]): JsonObject[] {
  const left = [...own];
  const take = (id: string, fits: (named: JsonObject | undefined) => boolean): JsonObject[] => {
    const position = left.findIndex((part) => fits(responseOf(part)));
    return position < 0 ? [] : left.splice(position, 1).map((part) => withRestoredId(part, 'functionResponse', id));
  };
  const known = calls.map((call) => {
    const id = idOf(call);
    return { call, id, results: isJsonObject(call.result) ? [call.result] : take(id, (named) => idOf(named) === id) };
  });
  const ordered = known.flatMap(({ call, id, results }) =>
    results.length > 0 ? results : take(id, (named) => idOf(named) === '' && named?.name === call.name),
  );
  return [...ordered, ...left.map((part) => withRestoredId(part, 'functionResponse', idOf(responseOf(part))))];
}

const userContent = (parts: JsonObject[]): JsonObject[] => (parts.length > 0 ? [{ role: 'user', parts }] : []);

/** Puts suspended turns back: the hidden rounds, then all results in call order in one content. */
export function restoreTurns(request: JsonObject, turnOf: Parameters<ProviderAdapter['restoreTurns']>[1]): JsonObject {
  const contents = readHistory(request).flatMap((turn) => {
    const named = [...callParts(turn).map(namedCallOf), ...turn.results.map(responseOf)];
    const found = named.flatMap((each) => turnOf(idOf(each)) ?? []);
    if (found.length === 0) return turn.contents;
    const transcript = found.find((each) => each.transcript !== undefined)?.transcript;
    const ownId = (part: JsonObject) => turnOf(idOf(responseOf(part)))?.id;
    if (isJsonObject(transcript)) {
      const own = turn.results.map((part) => {
        const id = ownId(part);
        return id === undefined ? part : withField(part, 'functionResponse', { ...responseOf(part), id });
      });
      const results = inCallOrder(objectsOf(transcript.calls), own);
      return [...objectsOf(transcript.contents), ...userContent(results), ...userContent(turn.beside)];
    }
    const model = turn.model.map((content) => ({
      ...content,
      parts: repeated(content.parts).map((part) => withRestoredId(part, 'functionCall', turnOf(idOf(objectOf(part, 'functionCall')))?.id)),
    }));
    const results = turn.results.map((part) => withRestoredId(part, 'functionResponse', ownId(part)));
    return [...model, ...userContent(results), ...userContent(turn.beside)];
  });
  return { ...request, contents };
}

/** Which calls of a turn have a result of the client's, or could get one. */
function keptCalls(turn: HistoryTurn, clientTools: ReadonlySet<string>): Set<JsonObject> {
  const left = turn.results.map(responseOf);
  const calls = callParts(turn);
  const isAnswered = (part: JsonObject) => {
    const call = namedCallOf(part);
    const agree = (result: JsonObject | undefined) => idOf(call) === '' || idOf(result) === '' || idOf(call) === idOf(result);
    const position = left.findIndex((result) => result?.name === call?.name && agree(result));
    if (position >= 0) left.splice(position, 1);
    return position >= 0;
  };
  return new Set(calls.filter((part) => isAnswered(part) || clientTools.has(namedCallOf(part)?.name ?? '')));
}

function cleanTurn(turn: HistoryTurn, clientTools: ReadonlySet<string>): JsonObject[] | undefined {
  const calls = callParts(turn);
  const kept = keptCalls(turn, clientTools);
  const hasInlineResults = turn.model.some((content) => repeated(content.parts).some(responseOf));
  if (kept.size === calls.length && !hasInlineResults) return undefined;
  const signerGone = calls[0] !== undefined && !kept.has(calls[0]) && isSigned(calls[0]);
  const [firstKept] = kept;
  const model = turn.model.flatMap((content) => {
    const parts = repeated(content.parts)
      .filter((part) => responseOf(part) === undefined && (!namedCallOf(part) || kept.has(part)))
      .map((part) => (signerGone && part === firstKept ? withoutItsSigner(part) : part));
    return parts.length > 0 ? [{ ...content, parts }] : [];
  });
  return [...model, ...turn.contents.slice(turn.model.length)];
}

/** Results within a reply, and calls that nobody answered and that name no tool of the client, were shown by an inline reply. */
export function removeInlineResults(request: JsonObject): JsonObject {
  if (!hasFunctions(request)) return request;
  const clientTools = new Set(functionNames(request));
  let changed = false;
  const contents = readHistory(request).flatMap((turn) => {
    const cleaned = cleanTurn(turn, clientTools);
    changed ||= cleaned !== undefined;
    return cleaned ?? turn.contents;
  });
  return changed ? { ...request, contents } : request;
}
