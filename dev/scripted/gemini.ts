import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { countReplyTokens, countTokens } from './count-tokens.ts';
import { fieldOf, objectOf } from './gemini-fields.ts';
import { newId } from './new-id.ts';
import { readArguments } from './read-arguments.ts';
import type { OfferedTool, Reply, ToolResult, Turn } from './script.ts';
import { sign } from './sign.ts';
import { splitIntoWords } from './split-text.ts';
import { textOf } from './text-of.ts';
import { thoughtsBefore } from './thoughts.ts';

// Gemini generateContent: https://ai.google.dev/api/generate-content

export const partsOf = (content: JsonObject | undefined): JsonObject[] => objectsOf(content?.parts);
export const callsOf = (content: JsonObject | undefined): JsonObject[] =>
  partsOf(content).filter((part) => objectOf(part, 'functionCall') !== undefined);
export const responsesOf = (content: JsonObject | undefined): JsonObject[] =>
  partsOf(content)
    .map((part) => objectOf(part, 'functionResponse'))
    .filter((response) => response !== undefined);

/** Where the user last spoke, and did not only hand over results. */
export const lastUserContent = (contents: readonly JsonObject[]): number =>
  contents.findLastIndex((content) => content.role !== 'model' && responsesOf(content).length === 0);

export const declarationsOf = ({ tools }: JsonObject): JsonObject[] =>
  objectsOf(tools).flatMap((tool) => objectsOf(fieldOf(tool, 'functionDeclarations')));

function readChoice(request: JsonObject): { mode: JsonValue; allowed: JsonValue[] } {
  const config = objectOf(objectOf(request, 'toolConfig') ?? {}, 'functionCallingConfig') ?? {};
  const allowed = fieldOf(config, 'allowedFunctionNames');
  return { mode: config.mode ?? 'AUTO', allowed: Array.isArray(allowed) ? allowed : [] };
}

function readTools(request: JsonObject): OfferedTool[] {
  const { allowed } = readChoice(request);
  return declarationsOf(request).flatMap((declaration) => {
    const { name } = declaration;
    const schema = fieldOf(declaration, 'parametersJsonSchema') ?? declaration.parameters;
    if (typeof name !== 'string' || (allowed.length > 0 && !allowed.includes(name))) return [];
    return [{ name, parameters: isJsonObject(schema) ? schema : {} }];
  });
}

/** What the conversation looks like from where the user last spoke. */
export function readTurn(request: JsonObject): Turn {
  const contents = objectsOf(request.contents);
  const start = lastUserContent(contents);
  const since = contents.slice(start + 1);
  const { mode } = readChoice(request);
  return {
    userText: textOf(contents[start]?.parts),
    tools: readTools(request),
    toolChoice: mode === 'NONE' ? 'none' : mode === 'ANY' ? 'required' : 'auto',
    results: since.flatMap(responsesOf).map(({ name, response }): ToolResult => ({ name: String(name), text: resultText(response) })),
    rounds: since.filter((content) => callsOf(content).length > 0).length,
  };
}

/** Text of a result, which usually stands in a field `output` of its own, since a response has to be an object. */
function resultText(response: JsonValue | undefined): string {
  const isWrapped = isJsonObject(response) && Object.keys(response).length === 1 && response.output !== undefined;
  const value = isWrapped ? response.output : (response ?? null);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The signature of a call, which comes with the first one of a step. */
export const signCall = (call: JsonObject): string => sign('thought', `${call.name} ${canonicalJson(call.args ?? {})}`);

/** The parts of a reply. Undefined when a call's arguments are no object, which this format cannot carry. */
export function writeParts(reply: Reply): JsonObject[] | undefined {
  const calls = reply.calls.map(({ name, arguments: text }) => ({ name, args: readArguments(text) }));
  if (calls.some(({ args }) => args === undefined)) return undefined;
  const parts = calls.map(({ name, args = {} }): JsonObject => ({ functionCall: { name, ...(Object.keys(args).length > 0 && { args }) } }));
  const [first, ...others] = parts;
  const signature = first === undefined ? sign('thought', reply.text) : signCall(first.functionCall as JsonObject);
  if (first === undefined) return [{ text: reply.text, thoughtSignature: signature }];
  return [...(reply.text === '' ? [] : [{ text: reply.text }]), { ...first, thoughtSignature: signature }, ...others];
}

function thoughtsOf(request: JsonObject, reply: Reply): string | undefined {
  const config = objectOf(objectOf(request, 'generationConfig') ?? {}, 'thinkingConfig') ?? {};
  return fieldOf(config, 'includeThoughts') === true ? thoughtsBefore(reply, readTurn(request).results.length) : undefined;
}

function countUsage(request: JsonObject, reply: Reply | undefined, thoughts: string | undefined): JsonObject {
  const { contents = [], tools = [] } = request;
  const prompt = countTokens([fieldOf(request, 'systemInstruction') ?? '', contents, tools]);
  const thought = thoughts === undefined ? 0 : countTokens(thoughts);
  const candidates = reply === undefined ? 0 : countReplyTokens(reply);
  return {
    promptTokenCount: prompt,
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    ...(thought > 0 && { thoughtsTokenCount: thought }),
    totalTokenCount: prompt + candidates + thought,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  };
}

const MALFORMED = { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call', index: 0 };
const thoughtParts = (texts: readonly string[]): JsonObject[] => texts.map((text) => ({ text, thought: true }));

/** The body of a plain answer. */
export function writeReply(model: string, request: JsonObject, reply: Reply): JsonObject {
  const thoughts = thoughtsOf(request, reply);
  const parts = writeParts(reply);
  const content = parts && { role: 'model', parts: [...thoughtParts(thoughts === undefined ? [] : [thoughts]), ...parts] };
  return {
    candidates: [content === undefined ? MALFORMED : { content, finishReason: 'STOP', index: 0 }],
    usageMetadata: countUsage(request, reply, thoughts),
    modelVersion: model,
    responseId: newId('', 22),
  };
}

/** The chunks of a streamed answer: text in pieces, calls whole, and an empty text with the reason at the end. */
export function writeChunks(model: string, request: JsonObject, reply: Reply): JsonObject[] {
  const thoughts = thoughtsOf(request, reply);
  const head = { modelVersion: model, responseId: newId('', 22) };
  const chunk = (candidate: JsonObject, usage: JsonObject): JsonObject => ({ candidates: [candidate], usageMetadata: usage, ...head });
  const final = countUsage(request, reply, thoughts);
  const parts = writeParts(reply);
  if (parts === undefined) return [chunk(MALFORMED, final)];
  const interim = countUsage(request, undefined, undefined);
  const pieces = [
    ...thoughtParts(splitIntoWords(thoughts ?? '')),
    ...splitIntoWords(reply.text).map((text) => ({ text })),
    ...parts.filter((part) => part.functionCall !== undefined),
  ];
  const last = reply.calls.length > 0 ? { text: '' } : { ...parts.at(-1), text: '' };
  return [
    ...pieces.map((part) => chunk({ content: { role: 'model', parts: [part] }, index: 0 }, interim)),
    chunk({ content: { role: 'model', parts: [last] }, finishReason: 'STOP', index: 0 }, final),
  ];
}
