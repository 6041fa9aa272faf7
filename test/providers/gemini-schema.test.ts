import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { compileForGemini } from '../../src/providers/gemini-schema.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { normalizeSkillSchema } from '../../src/skills/skill-schema.ts';
import { JSON_TYPES } from '../../src/skills/skill-schema-keywords.ts';

const text: JsonObject = { type: 'string' };
const TEXT: JsonObject = { type: 'STRING' };
const ANY = [TEXT, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }, { type: 'ARRAY', items: TEXT }];

const objectAt = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The schema of one property, compiled. */
const compileField = (schema: JsonValue, more: JsonObject = {}): JsonValue | undefined =>
  objectAt(compileForGemini({ type: 'object', properties: { a: schema, z: text }, ...more })?.properties).a;

describe('compileForGemini', () => {
  it.each<[string, JsonObject]>([
    ['an empty schema', {}],
    ['an object without properties', { type: 'object', properties: {}, additionalProperties: true }],
    ['an object of which nothing is possible', { type: 'object', properties: { a: false } }],
  ])('has no parameters for %s', (_, schema) => {
    expect(compileForGemini(schema)).toBeUndefined();
  });

  it('writes a plain object, without what the API does not know', () => {
    expect(
      compileForGemini({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'https://x.example/',
        type: 'object',
        title: 'T',
        description: 'Two fields',
        required: ['b', 'a', 'missing'],
        properties: {
          b: {
            type: 'string',
            description: 'B',
            minLength: 1,
            maxLength: 9,
            pattern: '^x',
            default: 'x',
            examples: ['x'],
            deprecated: true,
          },
          a: {
            type: 'array',
            items: { type: 'number', minimum: 0, maximum: 1, multipleOf: 0.5 },
            minItems: 1,
            maxItems: 2,
            uniqueItems: true,
          },
        },
        additionalProperties: false,
        patternProperties: { '^x': text },
        propertyNames: { maxLength: 3 },
        minProperties: 1,
        dependentRequired: { a: ['b'] },
      }),
    ).toEqual({
      type: 'OBJECT',
      title: 'T',
      description: 'Two fields',
      minProperties: 1,
      required: ['a', 'b'],
      properties: {
        a: { type: 'ARRAY', minItems: 1, maxItems: 2, items: { type: 'NUMBER', minimum: 0, maximum: 1 } },
        b: { type: 'STRING', description: 'B', minLength: 1, maxLength: 9, pattern: '^x', default: 'x' },
      },
    });
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['a type with null', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'several types',
      { type: ['string', 'integer', 'null'], description: 'D', minLength: 1, minimum: 0 },
      {
        anyOf: [
          { type: 'STRING', minLength: 1, description: 'D', nullable: true },
          { type: 'INTEGER', minimum: 0, description: 'D', nullable: true },
        ],
      },
    ],
    ['null alone', { type: 'null', description: 'D' }, { type: 'STRING', nullable: true, description: 'D\nAlways null.' }],
    ['anything', true, { anyOf: ANY }],
    ['anything that is described', { description: 'D' }, { anyOf: [{ ...TEXT, description: 'D' }, ...ANY.slice(1)] }],
    ['an object without properties', { type: 'object', additionalProperties: text, required: ['x'] }, { type: 'OBJECT' }],
    ['a text constant', { const: 'x' }, { type: 'STRING', format: 'enum', enum: ['x'] }],
    ['a number constant', { type: 'integer', const: 1, description: 'D' }, { type: 'INTEGER', description: 'D\nOne of: 1' }],
    ['a text enum', { enum: ['b', 'a', 'b', null] }, { type: 'STRING', format: 'enum', enum: ['b', 'a'], nullable: true }],
    ['an enum with an empty text', { type: 'string', enum: ['', 'a'] }, { type: 'STRING', description: 'One of: "", "a"' }],
    ['a number enum', { type: 'number', enum: [1, 2.5] }, { type: 'NUMBER', description: 'One of: 1, 2.5' }],
    [
      'an enum of several types',
      { enum: ['a', 1, true] },
      {
        anyOf: [
          { type: 'STRING', format: 'enum', enum: ['a'] },
          { type: 'INTEGER', description: 'One of: 1' },
          { type: 'BOOLEAN', description: 'One of: true' },
        ],
      },
    ],
    ['formats that it knows', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    [
      'formats that it does not know',
      { type: 'string', format: 'uri', description: 'D' },
      { type: 'STRING', description: 'D\nFormat: uri' },
    ],
    ['formats of numbers', { type: 'integer', format: 'int64' }, { type: 'INTEGER', format: 'int64' }],
    ['unknown formats of numbers', { type: 'integer', format: 'uint8' }, { type: 'INTEGER' }],
    ['patterns that RE2 does not know', { type: 'string', pattern: '^(?!x)' }, { type: 'STRING', description: 'Pattern: ^(?!x)' }],
    [
      'exclusive bounds of integers',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9.5 },
      { type: 'INTEGER', minimum: 1, maximum: 9 },
    ],
    ['exclusive bounds of numbers', { type: 'number', exclusiveMinimum: 0, minimum: 1 }, { type: 'NUMBER', minimum: 1 }],
    ['bounds beside another type', { type: 'boolean', minLength: 1, minimum: 1, minItems: 1, minProperties: 1 }, { type: 'BOOLEAN' }],
    ['a type that only its keywords tell', { minLength: 1 }, { type: 'STRING', minLength: 1 }],
    [
      'properties without a type',
      { properties: { b: { items: text } } },
      { type: 'OBJECT', properties: { b: { type: 'ARRAY', items: TEXT } } },
    ],
    ['a list of anything', { type: 'array' }, { type: 'ARRAY', items: { anyOf: ANY } }],
    [
      'a tuple',
      { type: 'array', prefixItems: [text, { type: 'integer' }], items: false },
      { type: 'ARRAY', items: { anyOf: [TEXT, { type: 'INTEGER' }] } },
    ],
    [
      'a choice',
      { anyOf: [text, { type: 'integer' }], description: 'D' },
      {
        anyOf: [
          { type: 'STRING', description: 'D' },
          { type: 'INTEGER', description: 'D' },
        ],
      },
    ],
    ['a choice with null', { oneOf: [text, { type: 'null' }] }, { type: 'STRING', nullable: true }],
    ['a choice of the same', { anyOf: [text, { type: 'string' }] }, TEXT],
    ['a choice within a choice', { anyOf: [text, { oneOf: [{ type: 'integer' }, false] }] }, { anyOf: [TEXT, { type: 'INTEGER' }] }],
    ['a choice of nothing but null', { anyOf: [{ type: 'null' }, false] }, { anyOf: ANY }],
    [
      'forms of one object',
      {
        type: 'object',
        properties: { k: text },
        required: ['k'],
        oneOf: [{ properties: { v: text }, required: ['v'] }, { properties: { w: text } }],
      },
      {
        anyOf: [
          { type: 'OBJECT', properties: { k: TEXT, v: TEXT }, required: ['v', 'k'] },
          { type: 'OBJECT', properties: { k: TEXT, w: TEXT }, required: ['k'] },
        ],
      },
    ],
    [
      'what is put together',
      {
        allOf: [
          { type: 'object', properties: { b: text } },
          { properties: { b: { minLength: 1 } }, required: ['b'] },
        ],
      },
      {
        type: 'OBJECT',
        properties: { b: { type: 'STRING', minLength: 1 } },
        required: ['b'],
      },
    ],
    ['conditions', { type: 'string', not: { const: 'x' }, if: { minLength: 1 }, else: text }, TEXT],
    [
      'a property that is not possible',
      { properties: { b: false, c: text }, required: ['b', 'c'] },
      { type: 'OBJECT', properties: { c: TEXT }, required: ['c'] },
    ],
  ])('compiles %s', (_, schema, expected) => {
    expect(compileField(schema)).toEqual(expected);
  });

  it('puts what is referred to in its place, and cuts what holds itself', () => {
    expect(
      compileForGemini({
        properties: { tree: { $ref: '#/$defs/node', description: 'The root' }, again: { $ref: '#/$defs/name' }, self: { $ref: '#' } },
        $defs: {
          name: { type: 'string', maxLength: 9 },
          node: {
            type: 'object',
            description: 'A node',
            properties: { name: { $ref: '#/$defs/name' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          },
        },
      }),
    ).toMatchObject({
      type: 'OBJECT',
      properties: {
        tree: {
          type: 'OBJECT',
          description: 'The root',
          properties: {
            name: { type: 'STRING', maxLength: 9 },
            children: { type: 'ARRAY', items: { type: 'OBJECT', description: 'A node' } },
          },
        },
        again: { type: 'STRING', maxLength: 9 },
        self: { type: 'OBJECT', properties: { self: { type: 'OBJECT' } } },
      },
    });
    expect(compileField({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } })).toEqual({
      type: 'OBJECT',
    });
    expect(compileField({ $ref: '#/$defs/missing' })).toEqual({ anyOf: ANY });
  });

  it('tells of properties whose names the API does not take', () => {
    expect(
      compileField({
        type: 'object',
        description: 'D',
        properties: { $filter: text, ok: text, 'a-b': { type: 'integer' } },
        required: ['ok', '$filter'],
      }),
    ).toEqual({
      type: 'OBJECT',
      description: [
        'D',
        'It also has these fields, whose names are written exactly so:',
        '- "$filter" (required): {"type":"STRING"}',
        '- "a-b": {"type":"INTEGER"}',
      ].join('\n'),
      properties: { ok: TEXT },
      required: ['ok'],
    });
  });

  it('writes equal schemas as equal bytes', () => {
    const first = compileForGemini({ type: 'object', properties: { b: { enum: ['y'], type: 'string' }, a: text }, required: ['b', 'a'] });
    const second = compileForGemini({ required: ['b', 'a'], properties: { a: text, b: { type: 'string', enum: ['y'] } }, type: 'object' });
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    expect(JSON.stringify(first)).toBe(
      '{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING","format":"enum","enum":["y"]}},"required":["a","b"]}',
    );
  });

  it('has an end for schemas that would grow without one', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, step) => {
        const next = { $ref: `#/$defs/s${step + 1}` };
        return [`s${step}`, { type: 'object', properties: { left: next, right: next } }];
      }),
    );
    const compiled = compileForGemini({ properties: { a: { $ref: '#/$defs/s0' } }, $defs: { ...doubling, s40: text } });
    expect(JSON.stringify(compiled).length).toBeLessThan(500_000);
    const choice = (depth: number): JsonObject =>
      depth === 0 ? text : { properties: { p: choice(depth - 1) }, anyOf: [{ required: ['p'] }, { properties: { q: text } }] };
    expect(JSON.stringify(compileForGemini({ properties: { a: choice(14) } })).length).toBeLessThan(2_000_000);
    const choices = Object.fromEntries(
      Array.from({ length: 40 }, (_, step) => {
        const next = (name: string) => ({ allOf: [{ $ref: `#/$defs/s${step + 1}` }, { properties: { [`${name}${step}`]: text } }] });
        return [`s${step}`, { anyOf: [next('left'), next('right')] }];
      }),
    );
    const chosen = compileForGemini({ properties: { a: { $ref: '#/$defs/s0' } }, $defs: { ...choices, s40: { type: 'object' } } });
    expect(JSON.stringify(chosen).length).toBeLessThan(1_000_000);
    let deep: JsonObject = text;
    for (let depth = 0; depth < 60; depth++) deep = { properties: { p: deep } };
    expect(JSON.stringify(compileForGemini(deep)).match(/OBJECT/g)?.length).toBeLessThan(30);
  });

  it('leaves the schema of the skill as it was, and never throws', () => {
    const schema: JsonObject = { type: 'object', properties: { a: { type: 'array' } }, anyOf: [{ properties: { b: text } }] };
    const before = canonicalJson(schema);
    compileForGemini(schema);
    expect(canonicalJson(schema)).toBe(before);
    expect(compileForGemini({ type: 'string', properties: { a: { type: 'strng', minimum: 'x', required: true, $ref: 1 } } })).toEqual({
      type: 'OBJECT',
      properties: { a: { anyOf: ANY } },
    });
  });
});

const KNOWN = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'default', 'example', 'enum', 'items', 'minItems', 'maxItems', 'properties'],
  ...['required', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'anyOf'],
]);
const ONLY_FOR: Record<string, readonly string[]> = {
  ...{ enum: ['STRING'], pattern: ['STRING'], minLength: ['STRING'], maxLength: ['STRING'] },
  ...{ minimum: ['NUMBER', 'INTEGER'], maximum: ['NUMBER', 'INTEGER'] },
  ...{ items: ['ARRAY'], minItems: ['ARRAY'], maxItems: ['ARRAY'] },
  ...{ properties: ['OBJECT'], required: ['OBJECT'], minProperties: ['OBJECT'], maxProperties: ['OBJECT'] },
};
const FORMATS: Record<string, readonly string[]> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
};

/** What the API refuses, as it answers with status 400. */
function checkRules(node: JsonValue, depth = 0): void {
  if (!isJsonObject(node)) throw new Error('a schema is an object');
  expect(depth).toBeLessThan(30);
  for (const keyword of Object.keys(node)) expect(KNOWN).toContain(keyword);
  const { type, anyOf, items, properties, required, enum: values, format } = node;
  if (anyOf !== undefined) {
    expect(Object.keys(node)).toEqual(['anyOf']);
    expect(anyOf).toSatisfy((forms) => Array.isArray(forms) && forms.length > 1);
    for (const form of anyOf as JsonValue[]) checkRules(form, depth);
    return;
  }
  expect(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT']).toContain(type);
  for (const [keyword, types] of Object.entries(ONLY_FOR)) if (keyword in node) expect(types).toContain(type);
  if (format !== undefined) expect(FORMATS[String(type)]).toContain(format);
  expect(format === 'enum').toBe(values !== undefined);
  if (values !== undefined) {
    expect(values).toSatisfy(
      (list) => Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string' && each !== ''),
    );
  }
  if (type === 'ARRAY') checkRules(items ?? null, depth + 1);
  if (properties !== undefined) {
    const names = Object.keys(properties as JsonObject);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/);
    for (const schema of Object.values(properties as JsonObject)) checkRules(schema, depth + 1);
  }
  if (required !== undefined) {
    expect((required as string[]).length).toBeGreaterThan(0);
    for (const name of required as string[]) expect(Object.keys((properties ?? {}) as JsonObject)).toContain(name);
  }
}

describe('the rules of the API', () => {
  it.each(builtinSkills.map((skill) => [skill.name, skill] as const))('hold for %s', (_, { schema }) => {
    const compiled = compileForGemini(schema.input);
    expect(compiled?.type).toBe('OBJECT');
    checkRules(compiled ?? null);
  });

  it('hold for every schema that a skill may have', () => {
    const name = fc.constantFrom('a', 'b', '__proto__', 'a-b');
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
            required: fc.uniqueArray(name),
            items: tie('schema'),
            additionalProperties: tie('schema'),
            not: tie('schema'),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            enum: fc.array(fc.constantFrom<JsonValue>(1, 'x', null, '', 2.5, [1], {}), { maxLength: 3 }),
            const: fc.constantFrom<JsonValue>(1, 'x', null, ''),
            format: fc.constantFrom('uri', 'date-time', 'int32'),
            pattern: fc.constantFrom('^x', '(?=x)'),
            minLength: fc.nat(9),
            exclusiveMinimum: fc.integer({ min: -9, max: 9 }),
            minItems: fc.nat(9),
            default: fc.constantFrom<JsonValue>(1, 'x', {}),
            description: fc.constantFrom('', 'D'),
            $anchor: fc.constant('here'),
            'x-more': fc.constant(1),
          },
          { requiredKeys: [] },
        ) as fc.Arbitrary<JsonValue>,
      ),
    }));
    let compiledOnes = 0;
    fc.assert(
      fc.property(schema, schema, (a, b) => {
        const input = { type: 'object', properties: { a, b }, $defs: { a: b } };
        let normalized: JsonObject;
        try {
          normalized = normalizeSkillSchema({ input }).input;
        } catch (error) {
          if (error instanceof AppError) return;
          throw error;
        }
        const compiled = compileForGemini(normalized);
        if (compiled === undefined) return;
        compiledOnes++;
        expect(compiled.type).toBe('OBJECT');
        checkRules(compiled);
      }),
      { numRuns: 400 },
    );
    expect(compiledOnes).toBeGreaterThan(100);
  }, 60_000);
});
