import { Validator } from '@cfworker/json-schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { kindOf } from './skill-schema-keywords.ts';
import { textLimitOf } from './skill-schema-pattern.ts';
import { resolveReference } from './skill-schema-reference.ts';
import { pathTo } from './skill-schema-shorthand.ts';

export interface SchemaValidator {
  /** The first fault of a value with its path, such as `input.path: must be text`, or undefined when it fits. Never throws. */
  validate(value: JsonValue, root?: string): string | undefined;
}

/** Longest name of a property, which `patternProperties` may be tried on. */
const MAX_NAME = 1_000;
/** Most items that are compared with each other. */
const MAX_UNIQUE_ITEMS = 1_000;
/** Deepest value. */
const MAX_DEPTH = 64;
/** Most times that some part of a value is held against some part of the schema. */
const MAX_STEPS = 200_000;

/** Annotations; `format` is one in 2020-12, and the expressions behind it cost more than they tell. */
const UNCHECKED_KINDS: readonly unknown[] = [undefined, 'text', 'anything', 'list'];
const UNCHECKED_KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  'pattern',
  'uniqueItems',
  '$defs',
  'definitions',
  'contentSchema',
  'nullable',
]);

class TooManySteps extends Error {}

/**
 * The part of a schema that is checked, in a form that cannot harm: references lead to `$defs` of the root by numbers, so nothing is left
 * to resolve; patterns and comparisons stand behind a limit of length; and each use of a schema takes one of the steps that are left.
 */
function compile(root: JsonObject, takeStep: () => void): JsonObject {
  const definitions: JsonObject = {};
  const names = new Map<JsonValue, string>();

  function compileSchema(value: JsonValue): JsonValue {
    if (!isJsonObject(value)) return value;
    const compiled: JsonObject = {};
    for (const [keyword, member] of Object.entries(value)) {
      const kind = kindOf(keyword);
      if (UNCHECKED_KEYWORDS.has(keyword) || UNCHECKED_KINDS.includes(kind)) continue;
      if (kind === 'schema') compiled[keyword] = compileSchema(member);
      else if (kind === 'schemas') compiled[keyword] = (member as JsonValue[]).map(compileSchema);
      else if (kind === 'schemaMap' || kind === 'patternMap') compiled[keyword] = compileMembers(member as JsonObject);
      else compiled[keyword] = member;
    }
    const guarded: JsonValue[] = [];
    if (typeof value.pattern === 'string') guarded.push(guard('string', 'Length', textLimitOf(value.pattern), { pattern: value.pattern }));
    if (value.uniqueItems === true) guarded.push(guard('array', 'Items', MAX_UNIQUE_ITEMS, { uniqueItems: true }));
    if (guarded.length > 0) compiled.allOf = [...(Array.isArray(compiled.allOf) ? compiled.allOf : []), ...guarded];
    if (typeof value.$ref === 'string') compiled.$ref = `#/$defs/${nameOf(resolveReference(root, value.$ref))}`;
    return countUses(compiled);
  }

  const compileMembers = (members: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([key, member]) => [key, compileSchema(member)]));

  /** The check, unless the value is longer than the limit, which is a fault then. */
  const guard = (type: string, measure: 'Length' | 'Items', limit: number, check: JsonObject): JsonValue =>
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    countUses({ if: { type, [`min${measure}`]: limit + 1 }, then: { [`max${measure}`]: limit }, else: check });

  function nameOf(target: JsonValue | undefined): string {
    if (target === undefined) throw new Error('unresolved reference');
    const known = names.get(target);
    if (known !== undefined) return known;
    const name = `d${names.size}`;
    names.set(target, name);
    definitions[name] = compileSchema(target);
    return name;
  }

  /** The checker reads every keyword of a schema each time that it uses it. */
  function countUses(schema: JsonObject): JsonObject {
    const { type } = schema;
    return Object.defineProperty(schema, 'type', {
      enumerable: true,
      get() {
        takeStep();
        return type;
      },
    });
  }

  const compiled = compileSchema(root) as JsonObject;
  compiled.$defs = definitions;
  return compiled;
}

function isWithinBounds(value: JsonValue, depth = 1): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isWithinBounds(item, depth + 1));
  return Object.entries(value).every(([key, member]) => key.length <= MAX_NAME && isWithinBounds(member, depth + 1));
}

/** `#/files/0/name` as `input.files[0].name`. */
function toPath(location: string, value: JsonValue, root: string): string {
  let path = root;
  let current: JsonValue | undefined = value;
  for (const part of location.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    path = pathTo(path, Array.isArray(current) ? Number(key) : key);
    current = Array.isArray(current) ? current[Number(key)] : isJsonObject(current) ? current[key] : undefined;
  }
  return path;
}

type Fault = ReturnType<Validator['validate']>['errors'][number];

/** Faults that only lead to the ones behind them. */
const LEADING_KEYWORDS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'dependentSchemas', 'propertyNames'],
  ...['items', 'prefixItems', 'unevaluatedItems', '$ref', 'allOf', 'if'],
]);

function describe(fault: Fault, value: JsonValue, root: string): string {
  const path = toPath(fault.instanceLocation, value, root);
  const quoted = /"(.*)"/s.exec(fault.error)?.[1] ?? '';
  switch (fault.keyword) {
    case 'required':
      return `${pathTo(path, quoted)}: is required`;
    case 'false':
      return `${path}: is not allowed`;
    case 'type':
      return `${path}: ${fault.error.replace(/^Instance type "(.*)" is invalid\. Expected "(.*)"\.$/s, (_, found, expected) => `must be ${expected.replaceAll('", "', ' or ')}, not ${found}`)}`;
    default:
      return `${path}: ${fault.error.replace(/^Instance d/, 'D').replace(/\.$/, '')}`;
  }
}

function createValidator(schema: JsonObject): SchemaValidator {
  let steps = 0;
  const takeStep = (): void => {
    if (steps-- <= 0) throw new TooManySteps();
  };
  let validator: Validator;
  try {
    steps = Number.POSITIVE_INFINITY;
    validator = new Validator(compile(schema, takeStep) as ConstructorParameters<typeof Validator>[0], '2020-12');
  } catch {
    return { validate: (_, root = 'input') => `${root}: cannot be checked, because the schema of the skill is not valid` };
  }
  return {
    validate(value, root = 'input') {
      if (!isWithinBounds(value)) return `${root}: is nested too deep or has a property whose name is too long`;
      steps = MAX_STEPS;
      try {
        const { valid, errors } = validator.validate(value);
        if (valid) return undefined;
        return describe(errors.find(({ keyword }) => !LEADING_KEYWORDS.has(keyword)) ?? errors[0]!, value, root);
      } catch {
        return `${root}: is too complex to be checked against the schema of the skill`;
      }
    },
  };
}

const validators = new WeakMap<JsonObject, SchemaValidator>();

/** A validator of a JSON Schema, made once per schema object. */
export function createSchemaValidator(schema: JsonObject): SchemaValidator {
  const known = validators.get(schema);
  if (known) return known;
  const made = createValidator(schema);
  validators.set(schema, made);
  return made;
}
