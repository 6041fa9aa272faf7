import { asArray, canonicalJson, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import { typesOf } from '../skills/skill-schema-keywords.ts';
import { resolveReference } from '../skills/skill-schema-reference.ts';
import { joinSchemas } from './gemini-schema-join.ts';
import { compileForOpenAi } from './openai-schema.ts';

/** Protobuf reads at most 100 messages within each other, and every property is two. */
const MAX_DEPTH = 24;
/** References that lead to the same places double with every step, so that there has to be an end. */
const MAX_NODES = 2_000;

/** Names of parameters that the API takes. https://ai.google.dev/api/caching#FunctionDeclaration */
const PROPERTY_NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

/** What RE2 does not know. */
const NOT_RE2 = /\(\?<?[=!]|\\[1-9]|\\k</;

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** Bounds that the API takes beside one type only. */
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
};

const ANNOTATIONS = ['title', 'default', 'example'] as const;

const isNever = (schema: JsonValue): boolean =>
  schema === false || (isJsonObject(schema) && isJsonObject(schema.not) && Object.keys(schema.not).length === 0);

const jsonTypeOf = (value: JsonValue): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};

/** Adds to a description what the dialect has no words for. */
const describe = (description: JsonValue | undefined, notes: readonly string[]): JsonObject => {
  const lines = [...(typeof description === 'string' && description !== '' ? [description] : []), ...notes];
  return lines.length > 0 ? { description: lines.join('\n') } : {};
};

const TYPES_BY_KEYWORD: readonly [type: string, keywords: readonly string[]][] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** The types of a schema, said or to be told from its keywords; empty for any. */
function typesIn(schema: JsonObject, values: readonly JsonValue[] | undefined): string[] {
  const said = typesOf(schema.type);
  if (said.length > 0) return said;
  if (values) return [...new Set(values.map(jsonTypeOf))];
  return TYPES_BY_KEYWORD.filter(([, keywords]) => keywords.some((keyword) => keyword in schema))
    .map(([type]) => type)
    .slice(0, 1);
}

const valuesIn = (schema: JsonObject): JsonValue[] | undefined =>
  schema.const !== undefined ? [schema.const] : Array.isArray(schema.enum) && schema.enum.length > 0 ? schema.enum : undefined;

/** Any value, as deep as a model is likely to go. */
const ANY_TYPE: readonly JsonObject[] = [
  { type: 'STRING' },
  { type: 'NUMBER' },
  { type: 'BOOLEAN' },
  { type: 'OBJECT' },
  { type: 'ARRAY', items: { type: 'STRING' } },
];

/** Several forms as one node. Beside `anyOf` no other field may stand, so that what is said of all is said of each. */
function union(forms: readonly JsonObject[], nullable: boolean): JsonObject {
  const flat = forms.flatMap((form) => (form.anyOf === undefined ? [form] : objectsOf(form.anyOf)));
  const distinct = [...new Map(flat.map((form) => [canonicalJson(form), form])).values()];
  const marked = distinct.map((form) => (nullable ? { ...form, nullable: true } : form));
  const [only] = marked;
  return marked.length === 1 && only ? only : { anyOf: marked };
}

function createTranslator(root: JsonObject) {
  let nodes = 0;
  /** References that are being followed; one that leads back is cut. */
  const followed = new Set<string>();

  /** The schema with all that it refers to or is put together of in one. */
  function join(schema: JsonObject): { schema: JsonObject; references: string[] } {
    const references: string[] = [];
    let joined: JsonObject = {};
    const add = (part: JsonValue, depth: number): void => {
      if (!isJsonObject(part) || depth > MAX_DEPTH) return;
      const { $ref, allOf, ...own } = part;
      joined = joinSchemas(joined, own);
      if (typeof $ref === 'string') {
        const isLoop = followed.has($ref) || references.includes($ref);
        const target = resolveReference(root, $ref);
        references.push($ref);
        if (isJsonObject(target)) add(isLoop ? outline(target) : target, depth + 1);
      }
      for (const each of asArray(allOf)) add(each, depth + 1);
    };
    add(schema, 0);
    return { schema: joined, references };
  }

  function translate(value: JsonValue, depth: number): JsonObject {
    nodes += 1;
    const level = nodes > MAX_NODES ? MAX_DEPTH : depth;
    const { schema, references } = join(isJsonObject(value) ? value : {});
    const added = references.filter((reference) => !followed.has(reference));
    for (const reference of added) followed.add(reference);
    try {
      return translateJoined(schema, level);
    } finally {
      for (const reference of added) followed.delete(reference);
    }
  }

  function translateJoined(schema: JsonObject, depth: number): JsonObject {
    const { anyOf, oneOf, ...base } = schema;
    const forms = [anyOf, oneOf].map(asArray).find((list) => list.length > 0);
    if (forms && depth < MAX_DEPTH) {
      const possible = forms.filter((form) => !isNever(form));
      const isNull = (form: JsonValue) => isJsonObject(form) && form.type === 'null';
      const branches = possible.filter((form) => !isNull(form)).map((form) => translate({ allOf: [form, base] }, depth));
      if (branches.length > 0) return union(branches, possible.some(isNull));
    }
    const values = valuesIn(base);
    const types = typesIn(base, values);
    const nullable = types.includes('null');
    const real = types.filter((type) => type !== 'null');
    if (types.length === 0)
      return { anyOf: ANY_TYPE.map((form, position) => (position > 0 ? form : { ...form, ...describe(base.description, []) })) };
    if (real.length === 0) return { type: 'STRING', nullable: true, ...describe(base.description, ['Always null.']) };
    return union(
      real.map((type) => translateTyped(base, type, values, depth)),
      nullable,
    );
  }

  function translateTyped(schema: JsonObject, type: string, values: readonly JsonValue[] | undefined, depth: number): JsonObject {
    const notes: string[] = [];
    const result: JsonObject = { type: type.toUpperCase() };
    for (const keyword of [...ANNOTATIONS, ...(BOUNDS[type] ?? [])]) {
      const value = schema[keyword];
      if (value !== undefined) result[keyword] = value;
    }
    if (typeof schema.format === 'string') {
      if (FORMATS[type]?.includes(schema.format)) result.format = schema.format;
      else if (type === 'string') notes.push(`Format: ${schema.format}`);
    }
    if (values) Object.assign(result, translateValues(values, type, notes));
    if (type === 'string' && typeof schema.pattern === 'string') {
      if (NOT_RE2.test(schema.pattern)) notes.push(`Pattern: ${schema.pattern}`);
      else result.pattern = schema.pattern;
    }
    if (type === 'number' || type === 'integer') Object.assign(result, translateExclusive(schema, type));
    if (type === 'array') result.items = translateItems(schema, depth);
    if (type === 'object') Object.assign(result, translateFields(schema, notes, depth));
    return { ...result, ...describe(schema.description, notes) };
  }

  /** A set of texts is an enum; other sets, which the API refuses, are told of. */
  function translateValues(values: readonly JsonValue[], type: string, notes: string[]): JsonObject {
    const fitting = values.filter((value) => {
      const own = jsonTypeOf(value);
      return own === type || (own === 'integer' && type === 'number');
    });
    if (fitting.length === 0) return {};
    if (type === 'string' && !fitting.includes('')) return { format: 'enum', enum: [...new Set(fitting)] };
    notes.push(`One of: ${fitting.map((value) => JSON.stringify(value)).join(', ')}`);
    return {};
  }

  function translateExclusive({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject, type: string): JsonObject {
    const step = type === 'integer' ? 1 : 0;
    const lower = typeof exclusiveMinimum === 'number' ? (step ? Math.floor(exclusiveMinimum) + step : exclusiveMinimum) : undefined;
    const upper = typeof exclusiveMaximum === 'number' ? (step ? Math.ceil(exclusiveMaximum) - step : exclusiveMaximum) : undefined;
    return {
      ...(lower !== undefined && { minimum: Math.max(lower, typeof minimum === 'number' ? minimum : lower) }),
      ...(upper !== undefined && { maximum: Math.min(upper, typeof maximum === 'number' ? maximum : upper) }),
    };
  }

  function translateItems({ items, prefixItems }: JsonObject, depth: number): JsonObject {
    if (depth >= MAX_DEPTH) return { type: 'STRING' };
    const forms = [...asArray(prefixItems), ...(items === undefined ? [] : [items])].filter((form) => !isNever(form));
    return union(
      (forms.length > 0 ? forms : [{}]).map((form) => translate(form, depth + 1)),
      false,
    );
  }

  function translateFields({ properties, required }: JsonObject, notes: string[], depth: number): JsonObject {
    if (depth >= MAX_DEPTH || !isJsonObject(properties)) return {};
    const fields = Object.entries(properties).filter(([, schema]) => !isNever(schema));
    const needed = new Set(asArray(required));
    const translated = fields.map(([name, schema]) => [name, translate(schema, depth + 1)] as const);
    const plain = translated.filter(([name]) => PROPERTY_NAME.test(name));
    const odd = translated.filter(([name]) => !PROPERTY_NAME.test(name));
    if (odd.length > 0) notes.push('It also has these fields, whose names are written exactly so:');
    for (const [name, schema] of odd) {
      notes.push(`- ${JSON.stringify(name)}${needed.has(name) ? ' (required)' : ''}: ${JSON.stringify(schema)}`);
    }
    const names = plain.map(([name]) => name).filter((name) => needed.has(name));
    return {
      ...(plain.length > 0 && { properties: Object.fromEntries(plain) }),
      ...(names.length > 0 && { required: names }),
    };
  }

  return translate;
}

/** What is left of a schema where it would hold itself. */
const outline = ({ type, description }: JsonObject): JsonObject => ({
  type: type ?? 'object',
  ...(description !== undefined && { description }),
});

/**
 * The `parameters` of a function for Gemini (https://ai.google.dev/api/caching#Schema): a selection of OpenAPI 3.0 in which every node has a
 * type or is a choice, without references, and without any keyword that the API does not know, since one of them would fail the whole
 * request. What cannot be said is told of in descriptions or left out, so that the arguments are looser than the schema, against which they
 * are checked in any case. Undefined for a function without parameters. Equal schemas give equal bytes.
 */
export function compileForGemini(schema: JsonObject): JsonObject | undefined {
  const root = compileForOpenAi(schema);
  try {
    const compiled = createTranslator(root)(root, 0);
    return compiled.properties === undefined ? undefined : compiled;
  } catch {
    return undefined;
  }
}
