import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { compileForAnthropic } from '../../src/providers/anthropic-schema.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { normalizeSkillSchema } from '../../src/skills/skill-schema.ts';
import { JSON_TYPES } from '../../src/skills/skill-schema-keywords.ts';

const string: JsonObject = { type: 'string' };

describe('compileForAnthropic', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['an empty schema', {}, { type: 'object', properties: {} }],
    [
      'a plain object',
      { type: 'object', required: ['a'], properties: { a: string, 'b.c-d_E': { type: 'array' } }, additionalProperties: false },
      { additionalProperties: false, properties: { a: string, 'b.c-d_E': { items: {}, type: 'array' } }, required: ['a'], type: 'object' },
    ],
    [
      'a root union, as one object with the fields of all forms and a field that tells them apart',
      {
        oneOf: [
          { properties: { kind: { const: 'a' }, left: string }, required: ['kind', 'left'] },
          { properties: { kind: { const: 'b' }, right: string }, required: ['kind', 'right'] },
        ],
      },
      {
        type: 'object',
        properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, left: string, right: string },
        required: ['kind'],
      },
    ],
    [
      'unions below the root as they are',
      { type: 'object', properties: { a: { oneOf: [string, { type: 'null' }] } } },
      { type: 'object', properties: { a: { oneOf: [string, { type: 'null' }] } } },
    ],
    [
      'references to what stood in a root union',
      { anyOf: [{ properties: { a: string } }, { properties: { b: { $ref: '#/anyOf/0/properties/a' } } }], definitions: { x: string } },
      { type: 'object', properties: { a: string, b: { $ref: '#/$defs/a' } }, $defs: { a: string } },
    ],
  ])('compiles %s', (_, schema, expected) => {
    expect(compileForAnthropic(schema)).toEqual(expected);
  });

  it('tells of fields whose names the API does not take, and lets them be given', () => {
    const long = 'x'.repeat(65);
    const schema: JsonObject = {
      type: 'object',
      description: 'Lists apps.',
      properties: {
        limit: { type: 'integer' },
        'filter[id]': string,
        [long]: string,
        '': string,
        nested: { type: 'object', properties: { 'a b': string } },
      },
      required: ['limit', 'filter[id]'],
      additionalProperties: false,
    };
    expect(compileForAnthropic(schema)).toEqual({
      type: 'object',
      description: [
        'Lists apps.',
        'The input also has these fields, whose names are written exactly so:',
        '- "": {"type":"string"}',
        '- "filter[id]" (required): {"type":"string"}',
        `- "${long}": {"type":"string"}`,
      ].join('\n'),
      properties: { limit: { type: 'integer' }, nested: { type: 'object', properties: { 'a b': string } } },
      required: ['limit'],
    });
    const { description, required } = compileForAnthropic({ properties: { ü: string }, required: ['ü'] });
    expect(description).toBe('The input also has these fields, whose names are written exactly so:\n- "ü" (required): {"type":"string"}');
    expect(required).toBeUndefined();
  });

  it('writes equal schemas as equal bytes and leaves them alone', () => {
    const schema: JsonObject = { type: 'object', properties: { 'b c': string, a: string }, required: ['b c', 'a'] };
    const before = JSON.stringify(schema);
    const other: JsonObject = { required: ['b c', 'a'], properties: { a: string, 'b c': string }, type: 'object' };
    expect(JSON.stringify(compileForAnthropic(schema))).toBe(JSON.stringify(compileForAnthropic(other)));
    expect(JSON.stringify(schema)).toBe(before);
  });
});

/** What the API refuses, as it answers with status 400. */
function checkRules(root: JsonObject): void {
  expect(root.type).toBe('object');
  for (const keyword of ['oneOf', 'anyOf', 'allOf', '$ref', '$schema', '$id']) expect(root).not.toHaveProperty(keyword);
  expect(isJsonObject(root.properties)).toBe(true);
  for (const name of Object.keys(root.properties as JsonObject)) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
  const visit = (schema: JsonValue): void => {
    if (typeof schema === 'boolean') return;
    expect(isJsonObject(schema)).toBe(true);
    for (const [keyword, value] of Object.entries(schema as JsonObject)) {
      const list = Array.isArray(value) ? value : [];
      switch (keyword) {
        case 'type':
          for (const type of [value].flat()) expect(JSON_TYPES).toContain(type);
          break;
        case 'required':
          expect(list.every((name) => typeof name === 'string') && new Set(list).size === list.length && Array.isArray(value)).toBe(true);
          break;
        case 'enum':
          expect(list.length).toBeGreaterThan(0);
          break;
        case '$ref': {
          const name = /^#\/\$defs\/([A-Za-z0-9_-]+)$/.exec(String(value))?.[1];
          expect(value === '#' || (name !== undefined && Object.hasOwn(root.$defs as JsonObject, name))).toBe(true);
          break;
        }
        case 'properties':
        case 'patternProperties':
        case '$defs':
        case 'dependentSchemas':
          Object.values(value as JsonObject).forEach(visit);
          break;
        case 'anyOf':
        case 'allOf':
        case 'oneOf':
        case 'prefixItems':
          expect(list.length).toBeGreaterThan(0);
          list.forEach(visit);
          break;
        case 'items':
        case 'not':
        case 'additionalProperties':
          visit(value);
          break;
      }
    }
  };
  visit(root);
}

describe('the rules of the API', () => {
  it.each(builtinSkills.map((skill) => [skill.name, skill] as const))('hold for %s', (_, { schema }) => {
    checkRules(compileForAnthropic(schema.input));
  });

  it('hold for every schema that a skill may have', () => {
    const name = fc.constantFrom('a', 'b c', '$top', '__proto__', 'x'.repeat(70));
    const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.boolean(),
        fc.constantFrom<JsonValue>({}, 'string', ['number'], { $ref: '#' }, { $ref: '#/$defs/a' }, { $ref: '#/properties/a' }),
        fc.record<JsonObject>(
          {
            type: fc.oneof(fc.constantFrom(...JSON_TYPES), fc.uniqueArray(fc.constantFrom(...JSON_TYPES), { minLength: 1 })),
            description: fc.constantFrom('One.', 'Two.'),
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
            $defs: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
            patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), tie('schema'), { maxKeys: 1 }),
            required: fc.uniqueArray(name),
            items: tie('schema'),
            additionalProperties: tie('schema'),
            not: tie('schema'),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            enum: fc.array(fc.constantFrom(1, 'x', null), { maxLength: 2 }),
            $schema: fc.constant('http://json-schema.org/draft-07/schema#'),
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
        const compiled = compileForAnthropic(normalized);
        checkRules(compiled);
        expect(normalizeSkillSchema({ input: compiled }).input).toEqual(compiled);
        checkRules(compileForAnthropic(compiled));
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  }, 60_000);
});
