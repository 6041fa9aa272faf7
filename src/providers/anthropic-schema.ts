import { asArray, isJsonObject, type JsonObject } from '../json.ts';
import { compileForOpenAi } from './openai-schema.ts';

/** Names of properties that the API takes at the root; below it any name will do. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Tells of the fields that cannot stand among the properties, so that the model can give them all the same. */
function describeFields(fields: readonly [string, JsonObject][], required: ReadonlySet<string>): string {
  const lines = fields.map(
    ([name, schema]) => `- ${JSON.stringify(name)}${required.has(name) ? ' (required)' : ''}: ${JSON.stringify(schema)}`,
  );
  return ['The input also has these fields, whose names are written exactly so:', ...lines].join('\n');
}

/**
 * The `input_schema` of a tool for Anthropic's API (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use): JSON
 * Schema 2020-12 whose root is an object and no union, as the OpenAI dialect has it too, and whose root properties have plain names. A
 * property with another name is told of in the description. The result is never stricter than the schema, against which the arguments are
 * checked in any case. Equal schemas give equal bytes.
 */
export function compileForAnthropic(schema: JsonObject): JsonObject {
  const compiled = compileForOpenAi(schema);
  const fields = Object.entries(isJsonObject(compiled.properties) ? compiled.properties : {}) as [string, JsonObject][];
  const plain = fields.filter(([name]) => PROPERTY_NAME.test(name));
  if (plain.length === fields.length) return compiled;
  const odd = fields.filter(([name]) => !PROPERTY_NAME.test(name));
  const { required, additionalProperties: _, unevaluatedProperties: __, ...open } = compiled;
  const names = asArray(required).filter((name) => typeof name === 'string');
  const kept = names.filter((name) => PROPERTY_NAME.test(name));
  const told = describeFields(odd, new Set(names));
  return {
    ...open,
    description: typeof open.description === 'string' ? `${open.description}\n${told}` : told,
    properties: Object.fromEntries(plain),
    ...(kept.length > 0 && { required: kept }),
  };
}
