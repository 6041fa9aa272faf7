import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

export interface TokenCounts {
  inputTokens: number | null;
  outputTokens: number | null;
}

/** The names under which formats count; those of one list are added up. Anthropic counts what it has cached apart, Gemini what it has thought. */
const INPUT_FIELDS = ['prompt_tokens', 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'promptTokenCount'];
const OUTPUT_FIELDS = ['completion_tokens', 'output_tokens', 'candidatesTokenCount', 'thoughtsTokenCount'];

function sumOf(usage: JsonObject, fields: readonly string[]): number | null {
  const counts = fields.map((field) => usage[field]).filter((count) => Number.isSafeInteger(count) && Number(count) >= 0) as number[];
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

const add = (left: number | null, right: number | null): number | null => (left === null || right === null ? null : left + right);

/** The tokens of all rounds together; null when a round does not tell. */
export function countTokens(usageByRound: readonly (JsonObject | null)[]): TokenCounts {
  const [first, ...rest] = usageByRound.map((usage) => ({
    inputTokens: usage && sumOf(usage, INPUT_FIELDS),
    outputTokens: usage && sumOf(usage, OUTPUT_FIELDS),
  }));
  if (first === undefined) return { inputTokens: null, outputTokens: null };
  return rest.reduce(
    (sum, round) => ({
      inputTokens: add(sum.inputTokens, round.inputTokens),
      outputTokens: add(sum.outputTokens, round.outputTokens),
    }),
    first,
  );
}

/** What a body, or one event of a stream, of any format says of usage: its own fields, or those of what it carries. */
export function usageIn(value: JsonValue): JsonObject | null {
  if (Array.isArray(value)) return value.map(usageIn).findLast((usage) => usage !== null) ?? null;
  if (!isJsonObject(value)) return null;
  const carriers = [value, value.message, value.response].filter(isJsonObject);
  return carriers.flatMap(({ usage, usageMetadata }) => [usage, usageMetadata].filter(isJsonObject))[0] ?? null;
}
