import { isJsonObject, type JsonValue } from '../json.ts';

export const JSON_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

const isJsonType = (value: unknown): value is (typeof JSON_TYPES)[number] => (JSON_TYPES as readonly unknown[]).includes(value);

/** The types that a `type` keyword names; empty when it is missing or is no type. */
export function typesOf(type: JsonValue | undefined): string[] {
  if (isJsonType(type)) return [type];
  return Array.isArray(type) && type.every(isJsonType) ? type : [];
}

const isText = (value: JsonValue) => typeof value === 'string';
const isTextList = (value: JsonValue) => Array.isArray(value) && value.every(isText);
const isNameList = (value: JsonValue) => isTextList(value) && new Set(value as string[]).size === (value as string[]).length;
const isSchema = (value: JsonValue) => isJsonObject(value) || typeof value === 'boolean';

interface Kind {
  fits(value: JsonValue): boolean;
  /** What a value has to be, as it follows on "must be". */
  expected: string;
  keywords: readonly string[];
}

/** The keywords of JSON Schema 2020-12 by what their value has to be, with `definitions` of older drafts. Others are annotations. */
const KINDS = {
  schema: {
    fits: isSchema,
    expected: 'a schema: an object, true or false',
    keywords: [
      ...['items', 'contains', 'unevaluatedItems', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
      ...['not', 'if', 'then', 'else', 'contentSchema'],
    ],
  },
  schemas: {
    fits: (value) => Array.isArray(value) && value.length > 0,
    expected: 'a list of at least one schema',
    keywords: ['prefixItems', 'allOf', 'anyOf', 'oneOf'],
  },
  schemaMap: { fits: isJsonObject, expected: 'an object of schemas', keywords: ['properties', 'dependentSchemas', '$defs', 'definitions'] },
  patternMap: { fits: isJsonObject, expected: 'an object of schemas', keywords: ['patternProperties'] },
  type: {
    fits: (value) => typesOf(value).length > 0 && new Set(typesOf(value)).size === typesOf(value).length,
    expected: `one of ${JSON_TYPES.join(', ')}, or a list of different ones of them`,
    keywords: ['type'],
  },
  reference: { fits: isText, expected: 'text', keywords: ['$ref'] },
  pattern: { fits: isText, expected: 'a regular expression', keywords: ['pattern'] },
  strings: {
    fits: isNameList,
    expected: 'a list of different names',
    keywords: ['required'],
  },
  stringsMap: {
    fits: (value) => isJsonObject(value) && Object.values(value).every(isNameList),
    expected: 'an object of lists of names',
    keywords: ['dependentRequired'],
  },
  values: { fits: Array.isArray, expected: 'a list', keywords: ['enum'] },
  constant: { fits: () => true, expected: 'a value', keywords: ['const'] },
  anything: { fits: () => true, expected: 'a value', keywords: ['default', 'example'] },
  list: { fits: Array.isArray, expected: 'a list', keywords: ['examples'] },
  text: {
    fits: isText,
    expected: 'text',
    keywords: ['title', 'description', 'format', 'contentEncoding', 'contentMediaType', '$comment', '$schema', '$id', '$anchor'],
  },
  number: {
    fits: (value) => typeof value === 'number',
    expected: 'a number',
    keywords: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  },
  positiveNumber: { fits: (value) => typeof value === 'number' && value > 0, expected: 'a number above 0', keywords: ['multipleOf'] },
  count: {
    fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    expected: 'a whole number, 0 or more',
    keywords: [...['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains', 'minProperties', 'maxProperties']],
  },
  flag: {
    fits: (value) => typeof value === 'boolean',
    expected: 'true or false',
    keywords: ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable'],
  },
} as const satisfies Record<string, Kind>;

export type KeywordKind = keyof typeof KINDS;

const kindsByKeyword: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries(KINDS).flatMap(([kind, { keywords }]) => keywords.map((keyword) => [keyword, kind as KeywordKind] as const)),
);

/** What kind of value a keyword takes; undefined for what is no keyword. */
export const kindOf = (keyword: string): KeywordKind | undefined => kindsByKeyword.get(keyword);

/** What is wrong with the value of a keyword, apart from what is inside of it. */
export const faultOf = (kind: KeywordKind, value: JsonValue): string | undefined =>
  (KINDS[kind] as Kind).fits(value) ? undefined : `must be ${KINDS[kind].expected}`;
