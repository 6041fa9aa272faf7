import type { oas31 } from 'zod-openapi';
import { isReference, nameOf, type Schema } from '../../src/api/read-openapi.ts';

/** Members that are written out; of what has more, the reader asks `/openapi.json`. */
const MAX_DEPTH = 2;

/** Bounds of a value in words: `1 to 100`, `at most 64 characters`. */
function boundsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems }: oas31.SchemaObject): string[] {
  const ranges: [number | undefined, number | undefined, string][] = [
    [minimum, maximum, ''],
    [minLength, maxLength, ' characters'],
    [minItems, maxItems, ' items'],
  ];
  return ranges.flatMap(([min, max, unit]) => {
    if (min !== undefined && max !== undefined) return [`${min} to ${max}${unit}`];
    if (max !== undefined) return [`at most ${max}${unit}`];
    if (min === 1 && unit !== '') return ['not empty'];
    return min === undefined ? [] : [`at least ${min}${unit}`];
  });
}

/** A value in one line: `string, 1 to 64 characters`, `"on" or "off"`, `array of Skill`. */
export function describeValue(schema: Schema): string {
  if (isReference(schema)) return `\`${nameOf(schema)}\``;
  const { type, items, anyOf, oneOf, enum: values, const: constant, pattern, default: byDefault } = schema;
  const kind =
    constant !== undefined
      ? `\`${JSON.stringify(constant)}\``
      : values !== undefined
        ? values.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')
        : (anyOf ?? oneOf) !== undefined
          ? (anyOf ?? oneOf ?? []).map(describeValue).join(' or ')
          : type === 'array' && items !== undefined
            ? `array of ${describeValue(items)}`
            : Array.isArray(type)
              ? type.join(' or ')
              : (type ?? 'any JSON');
  return [
    kind,
    ...boundsOf(schema),
    ...(pattern === undefined ? [] : [`matches \`${pattern}\``]),
    ...(byDefault === undefined ? [] : [`default \`${JSON.stringify(byDefault)}\``]),
  ].join(', ');
}

/** One line of a list for each member of an object. */
export function memberLines(schema: Schema): string[] {
  if (isReference(schema)) return [];
  return Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const note = !isReference(member) && member.description !== undefined ? `. ${member.description}` : '';
    const isRequired = schema.required?.includes(name) ?? false;
    return `- \`${name}\`${isRequired ? ' (required)' : ''}: ${describeValue(member)}${note}`;
  });
}

/**
 * The names of a value's members, as an answer holds them: `{data: [Skill], total}`; nothing for a value that has none. Objects that have a name
 * of their own are but named.
 */
export function outlineOf(schema: Schema, depth = 0): string {
  if (isReference(schema)) return nameOf(schema);
  const { properties, items, anyOf } = schema;
  if (items !== undefined) {
    const item = outlineOf(items, depth);
    return item === '' ? '' : `[${item}]`;
  }
  if (properties === undefined) return outlineOfAny(anyOf ?? [], depth);
  if (depth === MAX_DEPTH) return '{…}';
  const members = Object.entries(properties).map(([name, member]) => {
    const inner = outlineOf(member, depth + 1);
    return inner === '' ? name : `${name}: ${inner}`;
  });
  return members.length === 0 ? '' : `{${members.join(', ')}}`;
}

/** Nothing for values without members, be they null or not. */
function outlineOfAny(schemas: readonly Schema[], depth: number): string {
  const outlines = [...new Set(schemas.map((each) => outlineOf(each, depth)))].filter((outline) => outline !== '');
  const canBeNull = schemas.some((each) => !isReference(each) && each.type === 'null');
  return [...outlines, ...(canBeNull && outlines.length > 0 ? ['null'] : [])].join(' or ');
}

/** The names of the objects that a schema names, in it or inside it. */
export function referencesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const { $ref, ...rest } = schema as { $ref?: unknown };
  return [...(typeof $ref === 'string' ? [nameOf({ $ref })] : []), ...referencesIn(Object.values(rest))];
}
