import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { SkillSchema } from './skill.ts';
import { checkSchema } from './skill-schema-check.ts';
import { typesOf } from './skill-schema-keywords.ts';
import { expandShorthand, invalidSchema, pathTo } from './skill-schema-shorthand.ts';

export { createSchemaValidator, type SchemaValidator } from './skill-schema-validator.ts';

/** Deepest nesting of the JSON of a schema, and its length as text. */
const MAX_DEPTH = 64;
const MAX_LENGTH = 65_536;

function checkSize(value: JsonValue, path: string): void {
  const checkDepth = (each: JsonValue, depth: number): void => {
    if (depth > MAX_DEPTH) throw invalidSchema(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
    if (typeof each === 'object' && each !== null) for (const member of Object.values(each)) checkDepth(member, depth + 1);
  };
  checkDepth(value, 1);
  if (JSON.stringify(value).length > MAX_LENGTH) throw invalidSchema(path, `must not be longer than ${MAX_LENGTH} characters`);
}

function readSchema(value: JsonValue, path: string): JsonObject {
  checkSize(value, path);
  const expanded = expandShorthand(value, path);
  if (expanded === false) throw invalidSchema(path, 'must allow some value');
  const schema = expanded === true ? {} : (expanded as JsonObject);
  checkSchema(schema, path);
  return schema;
}

/** A model always gives an object, so the root of the input is one, said or unsaid. */
function readInput(value: JsonValue, path: string): JsonObject {
  const schema = readSchema(value, path);
  if (schema.type === undefined) return { ...schema, type: 'object' };
  if (typesOf(schema.type).length !== 1 || schema.type !== 'object') {
    throw invalidSchema(pathTo(path, 'type'), 'must be object, since the arguments of a tool are one');
  }
  return schema;
}

/**
 * Reads the `schema` of a skill: expands shorthand (see `expandShorthand`) and checks that input and output are JSON Schema 2020-12. A
 * missing input takes any object, a missing output is anything. Throws an AppError `invalid_request` whose message begins with the path of
 * the first fault, which is also in its details: `schema.input.properties.text.type: must be …`.
 */
export function normalizeSkillSchema(schema: JsonValue): SkillSchema {
  if (!isJsonObject(schema)) throw invalidSchema('schema', 'must be an object with input and output');
  for (const key of Object.keys(schema)) {
    if (key !== 'input' && key !== 'output') throw invalidSchema(pathTo('schema', key), 'is not known; a schema has input and output');
  }
  return {
    input: readInput(schema.input ?? { type: 'object', properties: {} }, 'schema.input'),
    output: readSchema(schema.output ?? {}, 'schema.output'),
  };
}
