import { asArray, canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { faultOf, kindOf, typesOf } from '../skills/skill-schema-keywords.ts';
import { resolveReference } from '../skills/skill-schema-reference.ts';

/** Keywords that tell a model nothing, or that name parts of a schema which this one names anew. */
const DROPPED: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'nullable',
  'example',
  'contentSchema',
]);
/** Keywords that the API refuses beside the `type` of the root, or that could keep out what the flattened root lets in. */
const DROPPED_FROM_ROOT: ReadonlySet<string> = new Set([
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else', 'dependentSchemas', 'unevaluatedProperties'],
]);
/** Where `true` and `false` are understood as they are. */
const TAKES_BOOLEAN: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);
const MAX_DEPTH = 128;

/** The properties of an object, and which of them it must have. */
interface Fields {
  properties: Map<string, JsonValue>;
  required: string[];
}

const distinct = (values: readonly JsonValue[]): JsonValue[] => [...new Map(values.map((value) => [canonicalJson(value), value])).values()];

/** Reads what a schema says of an object, with all that it is put together of. A choice of forms becomes one form that allows each of them. */
function createFieldReader(root: JsonObject) {
  const known = new Map<JsonObject, Fields>();
  const merged = new WeakSet<JsonObject>();

  /** Different schemas of one property. What was merged before is not merged once more, since it would grow with every step. */
  function mergeSchemas(schemas: readonly JsonValue[], combine: 'allOf' | 'anyOf'): JsonValue {
    if (schemas.length === 1) return schemas[0]!;
    if (schemas.some((schema) => isJsonObject(schema) && merged.has(schema))) return {};
    const schema = { [combine]: [...schemas] };
    merged.add(schema);
    return schema;
  }

  function mergeFields(all: readonly Fields[], combine: 'allOf' | 'anyOf'): Fields {
    const properties = new Map<string, JsonValue>();
    for (const name of new Set(all.flatMap((fields) => [...fields.properties.keys()]))) {
      const schemas = all.flatMap((fields) => (fields.properties.has(name) ? [fields.properties.get(name)!] : []));
      properties.set(name, mergeSchemas(distinct(schemas), combine));
    }
    const names = [...new Set(all.flatMap(({ required }) => required))];
    const required = combine === 'allOf' ? names : names.filter((name) => all.every((fields) => fields.required.includes(name)));
    return { properties, required };
  }

  function readFields(schema: JsonObject): Fields {
    const { required, properties, $ref, allOf, anyOf, oneOf } = schema;
    const isNamed = required !== undefined && faultOf('strings', required) === undefined;
    const own: Fields = {
      properties: new Map(isJsonObject(properties) ? Object.entries(properties) : []),
      required: isNamed ? (required as string[]) : [],
    };
    const target = typeof $ref === 'string' ? resolveReference(root, $ref) : undefined;
    const parts = [target, ...asArray(allOf)].filter(isJsonObject).map(fieldsOf);
    const choices = [anyOf, oneOf]
      .map((forms) => asArray(forms).filter((form) => form !== false && !excludesObjects(form)))
      .filter((forms) => forms.length > 0)
      .map((forms) =>
        mergeFields(
          forms.map((form) => fieldsOf(isJsonObject(form) ? form : {})),
          'anyOf',
        ),
      );
    return mergeFields([own, ...parts, ...choices], 'allOf');
  }

  function fieldsOf(schema: JsonObject): Fields {
    const found = known.get(schema);
    if (found) return found;
    // What a schema says by way of itself is nothing new.
    known.set(schema, { properties: new Map(), required: [] });
    const fields = readFields(schema);
    known.set(schema, fields);
    return fields;
  }

  return fieldsOf;
}

function excludesObjects(schema: JsonValue): boolean {
  const types = isJsonObject(schema) ? typesOf(schema.type) : [];
  return types.length > 0 && !types.includes('object');
}

/** Writes schemas in the API's dialect, collecting what they refer to under names of their own. */
function createWriter(root: JsonObject) {
  const definitions: JsonObject = {};
  const names = new Map<JsonObject, string>();

  function nameOf(target: JsonObject, reference: string, depth: number): string {
    const known = names.get(target);
    if (known !== undefined) return known;
    const wanted = /[^/#]*$/.exec(reference)![0].replace(/[^A-Za-z0-9_-]+/g, '_') || 'definition';
    const taken = new Set(names.values());
    let name = wanted;
    for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
    names.set(target, name);
    definitions[name] = write(target, depth + 1);
    return name;
  }

  function writeReference(reference: string, depth: number): string | undefined {
    const target = resolveReference(root, reference);
    if (target === root) return '#';
    return isJsonObject(target) ? `#/$defs/${nameOf(target, reference, depth)}` : undefined;
  }

  function writeKeyword(keyword: string, value: JsonValue, depth: number): JsonValue | undefined {
    const kind = kindOf(keyword);
    if (kind === undefined || DROPPED.has(keyword) || faultOf(kind, value) !== undefined) return undefined;
    switch (kind) {
      case 'schema':
        return typeof value === 'boolean' && TAKES_BOOLEAN.has(keyword) ? value : write(value, depth + 1);
      case 'schemas':
        return (value as JsonValue[]).map((entry) => write(entry, depth + 1));
      case 'schemaMap':
      case 'patternMap':
        return writeMembers(Object.entries(value as JsonObject), depth);
      case 'reference':
        return writeReference(value as string, depth);
      case 'values':
        return (value as JsonValue[]).length === 0 ? undefined : distinct(value as JsonValue[]);
      default:
        return value;
    }
  }

  const writeMembers = (members: Iterable<[string, JsonValue]>, depth: number): JsonObject =>
    Object.fromEntries([...members].map(([key, entry]) => [key, write(entry, depth + 1)]));

  function write(schema: JsonValue, depth: number): JsonObject {
    if (depth > MAX_DEPTH) throw new RangeError('schema nested too deep');
    if (schema === false) return { not: {} };
    if (!isJsonObject(schema)) return {};
    const written = Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
      const result = writeKeyword(keyword, value, depth);
      return result === undefined ? [] : [[keyword, result]];
    });
    const result: JsonObject = Object.fromEntries(written);
    if (typesOf(result.type).includes('array')) result.items ??= {};
    return result;
  }

  return { write, writeMembers, definitions };
}

/** Sorts the keys of objects at every level. Lists keep their order, which means something to a model. */
function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => [key, sortKeys(member)]);
  return Object.fromEntries(members.sort(([first], [second]) => (first < second ? -1 : 1)));
}

function compile(schema: JsonObject): JsonObject {
  const { properties, required } = createFieldReader(schema)(schema);
  const writer = createWriter(schema);
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !DROPPED_FROM_ROOT.has(keyword)));
  const { required: _, ...written } = writer.write({ ...kept, type: 'object', properties: {} }, 0);
  const compiled: JsonObject = { ...written, properties: writer.writeMembers(properties, 0) };
  if (required.length > 0) compiled.required = required;
  if (Object.keys(writer.definitions).length > 0) compiled.$defs = writer.definitions;
  return sortKeys(compiled) as JsonObject;
}

/**
 * The `parameters` of a tool for OpenAI's APIs without strict mode (https://platform.openai.com/docs/guides/function-calling): the root is
 * an object and no union, lists have `items`, references lead to `$defs`. What the API would not take is left out, in the worst case all
 * of it, so that the arguments are looser than the schema, against which they are checked in any case. Equal schemas give equal bytes.
 */
export function compileForOpenAi(schema: JsonObject): JsonObject {
  try {
    return compile(schema);
  } catch {
    return { type: 'object', properties: {} };
  }
}
