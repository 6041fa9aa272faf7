import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { faultOf, type KeywordKind, kindOf, typesOf } from './skill-schema-keywords.ts';

/** The path of a member: `schema.input.properties["a b"].anyOf[0]`. */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return /^[A-Za-z_$][A-Za-z0-9_$-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

export const invalidSchema = (path: string, fault: string): AppError =>
  new AppError('invalid_request', `${path}: ${fault}`, [{ path, message: fault }]);

/** Kinds whose right values are not shorthand: by one of these, or by a type among nothing but keywords, an object is known as a schema. */
const TELLING_KINDS: readonly (KeywordKind | undefined)[] = [
  ...(['schema', 'schemas', 'schemaMap', 'patternMap', 'strings', 'stringsMap', 'values', 'constant', 'flag'] as const),
];
const ANY = 'any';

const isTypeName = (value: JsonValue): value is string => value === ANY || (typeof value === 'string' && typesOf(value).length === 1);

const isExtension = (keyword: string): boolean => keyword.startsWith('x-') || keyword.startsWith('$');

function isSchema(object: JsonObject): boolean {
  const members = Object.entries(object);
  if (members.length === 0) return true;
  const tells = ([key, value]: [string, JsonValue]): boolean => {
    const kind = kindOf(key);
    if (kind === 'reference') return typeof value === 'string' && !isTypeName(value);
    return kind !== undefined && TELLING_KINDS.includes(kind) && faultOf(kind, value) === undefined;
  };
  if (members.some(tells)) return true;
  return typesOf(object.type).length > 0 && members.every(([key]) => kindOf(key) !== undefined || isExtension(key));
}

/** Whether a value is the shorthand of a schema, or a schema inside of shorthand. */
function isShorthand(value: JsonValue): boolean {
  if (isTypeName(value)) return true;
  if (Array.isArray(value)) return value.length <= 1 && value.every(isShorthand);
  return isJsonObject(value) && (isSchema(value) || Object.values(value).every(isShorthand));
}

const mapValues = (object: JsonObject, map: (value: JsonValue, key: string) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));

function expandKeyword(keyword: string, value: JsonValue, path: string): JsonValue {
  switch (kindOf(keyword)) {
    case undefined:
      if (isTypeName(value) && !isExtension(keyword))
        throw invalidSchema(path, 'is no keyword of JSON Schema; fields belong into properties');
      return value;
    case 'schema':
      return expandShorthand(value, path);
    case 'schemas':
      return Array.isArray(value) ? value.map((entry, index) => expandShorthand(entry, pathTo(path, index))) : value;
    case 'schemaMap':
    case 'patternMap':
      return isJsonObject(value) ? mapValues(value, (entry, key) => expandShorthand(entry, pathTo(path, key))) : value;
    default:
      return value;
  }
}

/**
 * Turns shorthand into JSON Schema, wherever a schema may stand:
 * - the name of a type, or `any`: `"string"` is `{"type": "string"}`, `"any"` is `{}`;
 * - a list of one: `["string"]` is an array of strings, `[]` an array of anything;
 * - an object whose values are shorthand or schemas: `{"text": "string"}` is an object with these properties, all of them required.
 *
 * An object is taken for JSON Schema when a keyword says so that shorthand cannot hold (`properties`, `enum`, `anyOf`, …), or when it has a
 * `type` and no key that is not a keyword. So fields may be called `type`, `title` or `pattern`, if another field is not. What has no keyword at all is taken for
 * shorthand, so that a misspelt type is not mistaken for an annotation.
 */
export function expandShorthand(value: JsonValue, path: string): JsonValue {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    if (isTypeName(value)) return value === ANY ? {} : { type: value };
    throw invalidSchema(path, `must be a schema; ${JSON.stringify(value)} is no type`);
  }
  if (Array.isArray(value)) {
    if (value.length > 1) throw invalidSchema(path, 'must be a schema; in shorthand a list holds one type, that of its items');
    return value.length === 0 ? { type: 'array' } : { type: 'array', items: expandShorthand(value[0]!, pathTo(path, 0)) };
  }
  if (!isJsonObject(value)) throw invalidSchema(path, `must be a schema, not ${JSON.stringify(value)}`);
  const hasKeyword = Object.keys(value).some((key) => kindOf(key) !== undefined || isExtension(key));
  if (isSchema(value) || (hasKeyword && !isShorthand(value)))
    return mapValues(value, (member, key) => expandKeyword(key, member, pathTo(path, key)));
  return {
    type: 'object',
    properties: mapValues(value, (member, key) => expandShorthand(member, pathTo(path, key))),
    required: Object.keys(value),
  };
}
