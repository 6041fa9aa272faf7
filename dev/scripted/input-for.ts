import { asArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';

/** An input that fits a tool's JSON Schema as far as its required properties go, with the user's text where text is asked for. */
export function inputFor(schema: JsonObject, userText: string): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = asArray(schema.required).filter((name) => typeof name === 'string');
  return Object.fromEntries(required.map((name) => [name, valueFor(properties[name], userText)]));
}

function valueFor(schema: JsonValue | undefined, userText: string): JsonValue {
  if (!isJsonObject(schema)) return userText;
  if (schema.const !== undefined) return schema.const;
  const [first] = asArray(schema.enum);
  if (first !== undefined) return first;
  // Gemini writes types in capitals.
  const type = String(Array.isArray(schema.type) ? schema.type[0] : schema.type).toLowerCase();
  if (type === 'number' || type === 'integer') return Number(/-?\d+/.exec(userText)?.[0] ?? 0);
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'object') return inputFor(schema, userText);
  return userText.trim();
}
