import { isJsonObject, type JsonValue } from '../../src/json.ts';
import { baseName, type ToolResult } from './script.ts';

const FIELDS = ['error', 'stdout', 'output', 'content', 'body', 'stderr'] as const;

/** What a person would want to read of a result: the field that says most, else all of it. */
function essence(text: string): string {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return text.trim();
  }
  if (!isJsonObject(value)) return String(text).trim();
  const found = FIELDS.map((field) => value[field]).find((field) => typeof field === 'string' && field.trim() !== '');
  return typeof found === 'string' ? found.trim() : text.trim();
}

/** One sentence for each result, in order. */
export function summarizeResults(results: readonly ToolResult[]): string {
  if (results.length === 0) return 'There is nothing to tell.';
  return results.map(({ name, text }) => `${baseName(name)} answered: ${essence(text)}`).join('\n');
}
