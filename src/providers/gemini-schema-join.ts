import { asArray, canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { typesOf } from '../skills/skill-schema-keywords.ts';

function joinTypes(left: JsonValue, right: JsonValue): JsonValue {
  const types = typesOf(left).filter((type) => typesOf(right).includes(type) || (type === 'integer' && typesOf(right).includes('number')));
  if (types.length > 0) return types.length === 1 ? types[0]! : types;
  return typesOf(left).includes('number') && typesOf(right).includes('integer') ? 'integer' : left;
}

function joinProperties(left: JsonObject, right: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(
    names.map((name) => {
      const schemas = [left, right].flatMap((side) => (Object.hasOwn(side, name) ? [side[name] as JsonValue] : []));
      const [first = {}, second = first] = schemas;
      return [name, canonicalJson(first) === canonicalJson(second) ? first : { allOf: schemas }];
    }),
  );
}

function joinKeyword(keyword: string, left: JsonValue, right: JsonValue): JsonValue {
  switch (keyword) {
    case 'type':
      return joinTypes(left, right);
    case 'properties':
      return isJsonObject(left) && isJsonObject(right) ? joinProperties(left, right) : left;
    case 'required':
      return [...new Set([...asArray(left), ...asArray(right)])];
    default:
      return left;
  }
}

/** Two schemas that hold at once as one. Where both say something of the same kind that cannot be joined, the first one is heard. */
export function joinSchemas(left: JsonObject, right: JsonObject): JsonObject {
  const joined = { ...left };
  for (const [keyword, value] of Object.entries(right)) {
    const before = left[keyword];
    joined[keyword] = before === undefined ? value : joinKeyword(keyword, before, value);
  }
  return joined;
}
