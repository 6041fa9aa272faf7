import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { RequestFacts } from './adapter.ts';
import { fieldOf, objectOf, repeated, withField, withoutField } from './gemini-fields.ts';

/** What one pass over the contents finds. Texts are of every message; what the model thought is not what was said. */
function readMessages(contents: readonly JsonObject[]): { texts: string[]; userMessages: number } {
  const texts: string[] = [];
  let userMessages = 0;
  for (const content of contents) {
    let isMessage = false;
    for (const part of repeated(content.parts)) {
      if (typeof part.text === 'string' && part.thought !== true) texts.push(part.text);
      // Results of functions are sent by the user as well, but are no message of theirs.
      isMessage ||= fieldOf(part, 'functionResponse') === undefined;
    }
    if (isMessage && content.role !== 'model') userMessages += 1;
  }
  return { texts, userMessages };
}

function readContents(value: JsonValue | undefined): JsonObject[] {
  const contents = repeated(value);
  if (contents.length === 0 || (Array.isArray(value) && contents.length < value.length)) {
    throw new AppError('invalid_request', 'contents: an array of at least one content object is required');
  }
  return contents;
}

function readTools(value: JsonValue | undefined): JsonObject[] {
  if (value === undefined || value === null || isJsonObject(value)) return repeated(value ?? undefined);
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw new AppError('invalid_request', 'tools: an array of objects is required');
  return value;
}

const declarationsOf = (tool: JsonObject): JsonObject[] => repeated(fieldOf(tool, 'functionDeclarations'));

/** The client's own functions. */
export const functionNames = (request: JsonObject): string[] =>
  repeated(request.tools)
    .flatMap(declarationsOf)
    .flatMap(({ name }) => (typeof name === 'string' ? [name] : []));

/** The calling modes by their numbers, which the API takes as well. */
const MODES = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'];

function modeOf(request: JsonObject): string | undefined {
  const mode = objectOf(objectOf(request, 'toolConfig') ?? {}, 'functionCallingConfig')?.mode;
  return typeof mode === 'number' ? MODES[mode] : typeof mode === 'string' ? mode.toUpperCase() : undefined;
}

/** True when some models refuse functions beside what the client asks for; one that brings functions of its own has to know. */
function excludesFunctions(tools: readonly JsonObject[], generation: JsonObject): boolean {
  const usesBuiltIns = tools.some((tool) => Object.keys(withoutField(tool, 'functionDeclarations')).length > 0);
  const mimeType = fieldOf(generation, 'responseMimeType') ?? 'text/plain';
  const wantsSchema = (fieldOf(generation, 'responseSchema') ?? fieldOf(generation, 'responseJsonSchema')) !== undefined;
  const modalities = asArray(fieldOf(generation, 'responseModalities'));
  return usesBuiltIns || mimeType !== 'text/plain' || wantsSchema || modalities.some((modality) => modality !== 'TEXT');
}

export function describeRequest(request: JsonObject, model: string, stream: boolean): RequestFacts {
  const { texts, userMessages } = readMessages(readContents(request.contents));
  const tools = readTools(request.tools);
  const generation = objectOf(request, 'generationConfig') ?? {};
  const instruction = fieldOf(request, 'systemInstruction');
  const systemTexts = typeof instruction === 'string' ? [instruction] : isJsonObject(instruction) ? readMessages([instruction]).texts : [];
  const names = functionNames(request);
  const limit = fieldOf(generation, 'maxOutputTokens');
  const candidates = fieldOf(generation, 'candidateCount');
  // With cached content the tools are in the cache, and a request that brings some is refused.
  const isCached = fieldOf(request, 'cachedContent') !== undefined;
  const isPlain = modeOf(request) !== 'NONE' && !isCached && !(typeof candidates === 'number' && candidates > 1);
  return {
    model,
    stream,
    texts: [model, ...systemTexts, ...texts],
    systemText: systemTexts.join('\n'),
    userMessageCount: userMessages,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    clientToolNames: new Set(names),
    clientToolCount: tools.flatMap(declarationsOf).length,
    acceptsTools: isPlain && (names.length > 0 || !excludesFunctions(tools, generation)),
  };
}

/** Puts declarations around those of the client, within its own entries: several entries with functions are refused by some models. */
export function injectTools(request: JsonObject, before: readonly JsonObject[], after: readonly JsonObject[]): JsonObject {
  const tools = repeated(request.tools);
  const hasFunctions = (tool: JsonObject) => fieldOf(tool, 'functionDeclarations') !== undefined;
  const entries = tools.some(hasFunctions) ? tools : [...tools, { functionDeclarations: [] }];
  const first = entries.findIndex(hasFunctions);
  const last = entries.findLastIndex(hasFunctions);
  return {
    ...request,
    tools: entries.map((entry, position) => {
      if (position !== first && position !== last) return entry;
      const declarations = [...(position === first ? before : []), ...declarationsOf(entry), ...(position === last ? after : [])];
      return withField(entry, 'functionDeclarations', declarations);
    }),
  };
}

/** The request with another calling mode; names are allowed only beside a mode that forces a call. */
function withMode(request: JsonObject, mode: string): JsonObject {
  const toolConfig = objectOf(request, 'toolConfig') ?? {};
  const config = withoutField(objectOf(toolConfig, 'functionCallingConfig') ?? {}, 'allowedFunctionNames');
  return withField(request, 'toolConfig', withField(toolConfig, 'functionCallingConfig', { ...config, mode }));
}

export const releaseToolChoice = (request: JsonObject): JsonObject => (modeOf(request) === 'ANY' ? withMode(request, 'AUTO') : request);

export const forbidTools = (request: JsonObject): JsonObject => withMode(request, 'NONE');

/** The request with more contents behind its own. */
export const withContents = (request: JsonObject, added: readonly JsonObject[]): JsonObject => ({
  ...request,
  contents: [...repeated(request.contents), ...added],
});

/** The contents that `request` has more than `original`. */
export const addedContents = (original: JsonObject, request: JsonObject): JsonObject[] =>
  objectsOf(request.contents).slice(repeated(original.contents).length);
