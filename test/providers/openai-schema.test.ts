import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { compileForOpenAi } from '../../src/providers/openai-schema.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { normalizeSkillSchema } from '../../src/skills/skill-schema.ts';
import { JSON_TYPES } from '../../src/skills/skill-schema-keywords.ts';

const text: JsonObject = { type: 'string' };
const number: JsonObject = { type: 'number' };

describe('compileForOpenAi', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['an empty schema', {}, { type: 'object', properties: {} }],
    ['an object without properties', { type: 'object' }, { type: 'object', properties: {} }],
    [
      'a plain object, with its keys sorted and its lists as they are',
      {
        type: 'object',
        required: ['b', 'a'],
        properties: { b: { type: 'string', enum: ['z', 'y', 'z'], description: 'B' }, a: number },
        additionalProperties: false,
        description: 'Two fields',
      },
      {
        additionalProperties: false,
        description: 'Two fields',
        properties: { a: number, b: { description: 'B', enum: ['z', 'y'], type: 'string' } },
        required: ['b', 'a'],
        type: 'object',
      },
    ],
    [
      'what only a schema needs to know',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://x.example/', $comment: 'c', 'x-y': 1, type: 'object' },
      { type: 'object', properties: {} },
    ],
    [
      'a root union of objects',
      {
        type: 'object',
        properties: { id: text },
        required: ['id'],
        anyOf: [
          { type: 'object', properties: { kind: { const: 'a' }, left: text, both: text }, required: ['kind', 'left', 'both'] },
          { type: 'object', properties: { kind: { const: 'b' }, right: text, both: text }, required: ['kind', 'right', 'both'] },
          { type: 'null' },
        ],
      },
      {
        type: 'object',
        properties: { id: text, kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, left: text, right: text, both: text },
        required: ['id', 'kind', 'both'],
      },
    ],
    [
      'a root that is put together',
      {
        allOf: [
          { properties: { a: text }, required: ['a'] },
          { $ref: '#/$defs/more' },
          { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        ],
        $defs: { more: { properties: { a: { minLength: 1 }, b: { $ref: '#/$defs/name' } }, required: ['b'] }, name: text },
      },
      {
        type: 'object',
        properties: { a: { allOf: [text, { minLength: 1 }] }, b: { $ref: '#/$defs/name' } },
        required: ['a', 'b'],
        $defs: { name: text },
      },
    ],
    [
      'a root by reference',
      { $ref: '#/$defs/a', $defs: { a: { properties: { b: text }, required: ['b'] } } },
      { type: 'object', properties: { b: text }, required: ['b'] },
    ],
    ['a choice of anything', { anyOf: [true, { properties: { a: text }, required: ['a'] }] }, { type: 'object', properties: { a: text } }],
    [
      'conditions at the root',
      { type: 'object', if: { required: ['a'] }, else: { required: ['b'] }, not: { required: ['c'] }, enum: [{}], const: {} },
      { type: 'object', properties: {} },
    ],
    [
      'unions and conditions below the root',
      { properties: { a: { anyOf: [text, { type: 'null' }], not: { const: '' } } } },
      { type: 'object', properties: { a: { anyOf: [text, { type: 'null' }], not: { const: '' } } } },
    ],
    [
      'lists without items',
      {
        properties: { a: { type: 'array' }, b: { type: ['array', 'null'] }, c: { type: 'array', prefixItems: [text, true], items: false } },
      },
      {
        type: 'object',
        properties: {
          a: { type: 'array', items: {} },
          b: { type: ['array', 'null'], items: {} },
          c: { type: 'array', prefixItems: [text, {}], items: { not: {} } },
        },
      },
    ],
    ['an empty enum', { properties: { a: { type: 'string', enum: [] } } }, { type: 'object', properties: { a: text } }],
    [
      'references of every kind',
      {
        properties: {
          self: { $ref: '#' },
          old: { $ref: '#/definitions/the%20name' },
          anchor: { $ref: '#here' },
          again: { $ref: '#/properties/list/items' },
          list: { type: 'array', items: { type: 'object', properties: { next: { $ref: '#/properties/list/items' } } } },
          yes: { $ref: '#/$defs/yes' },
        },
        definitions: { 'the name': text },
        $defs: { here: { $anchor: 'here', type: 'number' }, yes: true },
      },
      {
        type: 'object',
        properties: {
          self: { $ref: '#' },
          old: { $ref: '#/$defs/the_20name' },
          anchor: { $ref: '#/$defs/here' },
          again: { $ref: '#/$defs/items' },
          list: { type: 'array', items: { type: 'object', properties: { next: { $ref: '#/$defs/items' } } } },
          yes: {},
        },
        $defs: {
          the_20name: text,
          here: number,
          items: { type: 'object', properties: { next: { $ref: '#/$defs/items' } } },
        },
      },
    ],
    [
      'two definitions of one name',
      {
        properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/definitions/x' } },
        $defs: { x: text },
        definitions: { x: number },
      },
      { type: 'object', properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x_2' } }, $defs: { x: text, x_2: number } },
    ],
    [
      'what was never checked',
      {
        type: 'string',
        properties: { a: { type: 'strng', minimum: 'x', required: true, $ref: '#/no' }, b: 'string' },
        required: 'a',
        anyOf: {},
      },
      { type: 'object', properties: { a: {}, b: {} } },
    ],
  ])('compiles %s', (_, schema, expected) => {
    expect(compileForOpenAi(schema)).toEqual(expected);
  });

  it('writes equal schemas as equal bytes', () => {
    const first = compileForOpenAi({ type: 'object', properties: { b: { enum: [{ y: 1, x: 2 }] }, a: text }, required: ['b', 'a'] });
    const second = compileForOpenAi({ required: ['b', 'a'], properties: { a: text, b: { enum: [{ x: 2, y: 1 }] } }, type: 'object' });
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    expect(JSON.stringify(first)).toBe(
      '{"properties":{"a":{"type":"string"},"b":{"enum":[{"x":2,"y":1}]}},"required":["b","a"],"type":"object"}',
    );
  });

  it('keeps a property called __proto__', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonObject;
    expect(JSON.stringify(compileForOpenAi(schema))).toBe('{"properties":{"__proto__":{"type":"string"}},"type":"object"}');
  });

  it('allows everything when the schema is beyond repair', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 200; depth++) deep = { properties: { a: deep } };
    expect(compileForOpenAi(deep)).toEqual({ type: 'object', properties: {} });
  });

  it('does not grow with the ways in which a schema is put together', () => {
    const $defs: JsonObject = { d0: { properties: { p: text } } };
    for (let level = 1; level <= 40; level++) {
      const below = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { [level % 2 ? 'anyOf' : 'allOf']: [below, { ...below, properties: { p: { minLength: level } } }] };
    }
    expect(JSON.stringify(compileForOpenAi({ $ref: '#/$defs/d40', $defs })).length).toBeLessThan(1_000);
  });

  it('leaves the schema alone', () => {
    const schema: JsonObject = { type: 'object', properties: { a: { type: 'array' } }, anyOf: [{ properties: { b: text } }] };
    const before = canonicalJson(schema);
    compileForOpenAi(schema);
    expect(canonicalJson(schema)).toBe(before);
  });
});

/** What the API refuses without strict mode, as it answers with status 400. */
function checkRules(root: JsonObject): void {
  expect(root.type).toBe('object');
  expect(isJsonObject(root.properties)).toBe(true);
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not']) expect(root).not.toHaveProperty(keyword);
  const visit = (schema: JsonValue): void => {
    expect(isJsonObject(schema)).toBe(true);
    const {
      type,
      items,
      required,
      enum: values,
      $ref,
      properties,
      anyOf,
      allOf,
      oneOf,
      prefixItems,
      not,
      additionalProperties,
    } = schema as JsonObject;
    const types = type === undefined ? [] : [type].flat();
    for (const each of types) expect(JSON_TYPES).toContain(each);
    if (types.includes('array')) expect(isJsonObject(items)).toBe(true);
    if (required !== undefined)
      expect(required).toSatisfy((names) => Array.isArray(names) && names.every((name) => typeof name === 'string'));
    if (values !== undefined) expect(values).toSatisfy((list) => Array.isArray(list) && list.length > 0);
    if ($ref !== undefined) {
      const name = /^#\/\$defs\/([A-Za-z0-9_-]+)$/.exec(String($ref))?.[1];
      expect($ref === '#' || (name !== undefined && Object.hasOwn(root.$defs as JsonObject, name))).toBe(true);
    }
    for (const map of [properties, (schema as JsonObject).$defs]) if (map !== undefined) Object.values(map as JsonObject).forEach(visit);
    for (const list of [anyOf, allOf, oneOf, prefixItems]) if (list !== undefined) (list as JsonValue[]).forEach(visit);
    for (const single of [items, not]) if (single !== undefined) visit(single);
    if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') visit(additionalProperties);
  };
  visit(root);
}

describe('the rules of the API', () => {
  it.each(builtinSkills.map((skill) => [skill.name, skill] as const))('hold for %s', (_, { schema }) => {
    checkRules(compileForOpenAi(schema.input));
  });

  it('hold for every schema that a skill may have', () => {
    const name = fc.constantFrom('a', 'b', '__proto__');
    const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.boolean(),
        fc.constantFrom<JsonValue>(
          {},
          'string',
          ['number'],
          { $ref: '#' },
          { $ref: '#/$defs/a' },
          { $ref: '#/properties/a' },
          { $ref: '#here' },
        ),
        fc.record<JsonObject>(
          {
            type: fc.oneof(fc.constantFrom(...JSON_TYPES), fc.uniqueArray(fc.constantFrom(...JSON_TYPES), { minLength: 1 })),
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
            $defs: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
            patternProperties: fc.dictionary(name, tie('schema'), { maxKeys: 1 }),
            required: fc.uniqueArray(name),
            items: tie('schema'),
            additionalProperties: tie('schema'),
            not: tie('schema'),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            enum: fc.array(fc.constantFrom(1, 'x', null), { maxLength: 2 }),
            const: fc.constantFrom(1, 'x'),
            $anchor: fc.constant('here'),
            'x-more': fc.constant(1),
          },
          { requiredKeys: [] },
        ) as fc.Arbitrary<JsonValue>,
      ),
    }));
    let accepted = 0;
    fc.assert(
      fc.property(schema, (input) => {
        let normalized: JsonObject;
        try {
          normalized = normalizeSkillSchema({ input }).input;
        } catch (error) {
          if (error instanceof AppError) return;
          throw error;
        }
        accepted++;
        const compiled = compileForOpenAi(normalized);
        checkRules(compiled);
        expect(normalizeSkillSchema({ input: compiled }).input).toEqual(compiled);
        expect(JSON.stringify(compileForOpenAi(compiled))).toBe(JSON.stringify(compiled));
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  }, 60_000);
});
