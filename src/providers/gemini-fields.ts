import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';

/** The fields that we read, with the second spelling that the REST API takes (https://protobuf.dev/programming-guides/json/). */
const SNAKE_CASE = {
  allowedFunctionNames: 'allowed_function_names',
  cachedContent: 'cached_content',
  candidateCount: 'candidate_count',
  functionCall: 'function_call',
  functionCallingConfig: 'function_calling_config',
  functionDeclarations: 'function_declarations',
  functionResponse: 'function_response',
  generationConfig: 'generation_config',
  maxOutputTokens: 'max_output_tokens',
  responseJsonSchema: 'response_json_schema',
  responseMimeType: 'response_mime_type',
  responseModalities: 'response_modalities',
  responseSchema: 'response_schema',
  systemInstruction: 'system_instruction',
  thoughtSignature: 'thought_signature',
  toolConfig: 'tool_config',
} as const;

type Field = keyof typeof SNAKE_CASE;

/** A field in either spelling. */
export const fieldOf = (object: JsonObject, field: Field): JsonValue | undefined => object[field] ?? object[SNAKE_CASE[field]];

/** A field that is an object. */
export function objectOf(object: JsonObject, field: Field): JsonObject | undefined {
  const value = fieldOf(object, field);
  return isJsonObject(value) ? value : undefined;
}

/** A copy with the field set, in the spelling that the object has already: both at once would be refused. */
export const withField = (object: JsonObject, field: Field, value: JsonValue): JsonObject => ({
  ...object,
  [object[SNAKE_CASE[field]] === undefined ? field : SNAKE_CASE[field]]: value,
});

/** A copy without the field. */
export function withoutField(object: JsonObject, field: Field): JsonObject {
  const { [field]: _, [SNAKE_CASE[field]]: __, ...rest } = object;
  return rest;
}

/** The objects of a repeated field; the API also takes a single one without its list. */
export const repeated = (value: JsonValue | undefined): JsonObject[] => (isJsonObject(value) ? [value] : objectsOf(value));
