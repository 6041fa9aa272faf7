import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { faultOf, kindOf } from './skill-schema-keywords.ts';
import { patternFault } from './skill-schema-pattern.ts';
import { resolveReference } from './skill-schema-reference.ts';
import { invalidSchema, pathTo } from './skill-schema-shorthand.ts';

/** Most schemas in one schema. */
const MAX_SCHEMAS = 2_000;
/** Keywords that say something of the same value as the schema they stand in, so that a reference through them alone never ends. */
const SAME_VALUE_KEYWORDS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);

interface Subschema {
  schema: JsonObject;
  path: string;
}

/** The schemas right inside a schema, with the keyword under which they stand. */
function subschemas(schema: JsonObject, path: string): { keyword: string; value: JsonValue; path: string }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = pathTo(path, keyword);
    switch (kindOf(keyword)) {
      case 'schema':
        return [{ keyword, value, path: at }];
      case 'schemas':
        return (value as JsonValue[]).map((entry, index) => ({ keyword, value: entry, path: pathTo(at, index) }));
      case 'schemaMap':
      case 'patternMap':
        return Object.entries(value as JsonObject).map(([key, entry]) => ({ keyword, value: entry, path: pathTo(at, key) }));
      default:
        return [];
    }
  });
}

function checkKeywords(schema: JsonObject, path: string, isRoot: boolean): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const at = pathTo(path, keyword);
    if (keyword === '$dynamicRef' || keyword === '$recursiveRef') throw invalidSchema(at, 'is not supported; use $ref');
    if (keyword === '$id' && !isRoot) throw invalidSchema(at, 'is not supported inside a schema');
    const kind = kindOf(keyword);
    if (kind === undefined) continue;
    const fault = faultOf(kind, value);
    if (fault !== undefined) throw invalidSchema(at, fault);
    const patterns = kind === 'pattern' ? [value as string] : kind === 'patternMap' ? Object.keys(value as JsonObject) : [];
    for (const pattern of patterns) {
      const wrong = patternFault(pattern);
      if (wrong !== undefined) throw invalidSchema(kind === 'pattern' ? at : pathTo(at, pattern), wrong);
    }
  }
}

/** Throws when a value would have to be checked against the same schema again before anything of it is looked into. */
function checkEndless(all: readonly Subschema[], targets: ReadonlyMap<JsonObject, JsonValue>): void {
  const paths = new Map(all.map(({ schema, path }) => [schema, path]));
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();
  const visit = (schema: JsonObject, from: string): void => {
    if (done.has(schema)) return;
    if (open.has(schema)) throw invalidSchema(from, 'refers to itself without end');
    const path = paths.get(schema) ?? from;
    open.add(schema);
    for (const inner of subschemas(schema, path)) {
      if (SAME_VALUE_KEYWORDS.has(inner.keyword) && isJsonObject(inner.value)) visit(inner.value, inner.path);
    }
    const target = targets.get(schema);
    if (isJsonObject(target)) visit(target, pathTo(path, '$ref'));
    open.delete(schema);
    done.add(schema);
  };
  for (const { schema, path } of all) visit(schema, path);
}

/** Throws an AppError that names the path of the first fault, if the value is no JSON Schema 2020-12 or one that cannot be checked safely. */
export function checkSchema(root: JsonObject, rootPath: string): void {
  const all: Subschema[] = [];
  const collect = (value: JsonValue, path: string): void => {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) throw invalidSchema(path, 'must be a schema: an object, true or false');
    all.push({ schema: value, path });
    if (all.length > MAX_SCHEMAS) throw invalidSchema(rootPath, `must not hold more than ${MAX_SCHEMAS} schemas`);
    checkKeywords(value, path, value === root);
    for (const inner of subschemas(value, path)) collect(inner.value, inner.path);
  };
  collect(root, rootPath);

  const schemas = new Set<JsonValue>(all.map(({ schema }) => schema));
  const targets = new Map<JsonObject, JsonValue>();
  for (const { schema, path } of all) {
    if (typeof schema.$ref !== 'string') continue;
    const target = resolveReference(root, schema.$ref);
    const at = pathTo(path, '$ref');
    if (target === undefined) throw invalidSchema(at, 'must refer to a schema inside this one, such as #/$defs/name');
    if (typeof target !== 'boolean' && !schemas.has(target)) throw invalidSchema(at, 'refers to something that is no schema');
    targets.set(schema, target);
  }
  checkEndless(all, targets);
}
