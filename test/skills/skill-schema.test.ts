import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { createSchemaValidator, normalizeSkillSchema } from '../../src/skills/skill-schema.ts';

const inputOf = (input: JsonValue): JsonObject => normalizeSkillSchema({ input }).input;

function faultOf(schema: JsonValue): string {
  try {
    normalizeSkillSchema(schema);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    const { code, message, details } = error as AppError;
    expect(code).toBe('invalid_request');
    expect((details as JsonObject[]).map((fault) => `${fault.path}: ${fault.message}`)).toEqual([message]);
    return message;
  }
  throw new Error('The schema was accepted');
}

describe('shorthand', () => {
  it.each<[string, JsonValue, JsonObject]>([
    ['fields', { text: 'string' }, { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }],
    [
      'every type',
      { a: 'string', b: 'number', c: 'integer', d: 'boolean', e: 'object', f: 'array', g: 'null', h: 'any' },
      {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'number' },
          c: { type: 'integer' },
          d: { type: 'boolean' },
          e: { type: 'object' },
          f: { type: 'array' },
          g: { type: 'null' },
          h: {},
        },
        required: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
      },
    ],
    [
      'nested fields',
      { filter: { field: 'string' } },
      {
        type: 'object',
        properties: { filter: { type: 'object', properties: { field: { type: 'string' } }, required: ['field'] } },
        required: ['filter'],
      },
    ],
    [
      'lists',
      { names: ['string'], rows: [{ id: 'integer' }], rest: [] },
      {
        type: 'object',
        properties: {
          names: { type: 'array', items: { type: 'string' } },
          rows: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
          rest: { type: 'array' },
        },
        required: ['names', 'rows', 'rest'],
      },
    ],
    [
      'schemas among the fields',
      { text: { type: 'string', description: 'What to read' }, mode: { enum: ['a', 'b'] } },
      {
        type: 'object',
        properties: { text: { type: 'string', description: 'What to read' }, mode: { enum: ['a', 'b'] } },
        required: ['text', 'mode'],
      },
    ],
    [
      'fields named like keywords, beside others',
      { type: 'string', title: 'string', pattern: 'string', items: ['string'], path: 'string' },
      {
        type: 'object',
        properties: {
          type: { type: 'string' },
          title: { type: 'string' },
          pattern: { type: 'string' },
          items: { type: 'array', items: { type: 'string' } },
          path: { type: 'string' },
        },
        required: ['type', 'title', 'pattern', 'items', 'path'],
      },
    ],
    [
      'inside of JSON Schema',
      { type: 'object', properties: { content: 'string', tags: ['string'] } },
      { type: 'object', properties: { content: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } } },
    ],
    ['the name of the root type', 'object', { type: 'object' }],
  ])('expands %s', (_, shorthand, expected) => {
    expect(inputOf(shorthand)).toEqual(expected);
  });

  it('expands the output as well', () => {
    expect(normalizeSkillSchema({ output: ['string'] }).output).toEqual({ type: 'array', items: { type: 'string' } });
  });
});

describe('normalizeSkillSchema', () => {
  it('takes any object as the input and anything as the output when they are missing', () => {
    expect(normalizeSkillSchema({})).toEqual({ input: { type: 'object', properties: {} }, output: {} });
    expect(normalizeSkillSchema({ input: null, output: null })).toEqual({ input: { type: 'object', properties: {} }, output: {} });
    expect(normalizeSkillSchema({ input: true, output: true })).toEqual({ input: { type: 'object' }, output: {} });
  });

  it('says that the input is an object', () => {
    expect(inputOf({ properties: { a: { type: 'string' } } })).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect(inputOf({ anyOf: [{ required: ['a'] }, { required: ['b'] }] })).toMatchObject({ type: 'object' });
  });

  it.each(builtinSkills.map((skill) => [skill.name, skill] as const))('leaves the schema of %s as it is', (_, { schema }) => {
    expect(normalizeSkillSchema(JSON.parse(JSON.stringify(schema)) as JsonValue)).toEqual(schema);
  });

  it('leaves JSON Schema as it is', () => {
    const input: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://skills.example/tree',
      type: 'object',
      description: 'A tree',
      properties: {
        id: { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$', minLength: 1, maxLength: 36 },
        kind: { enum: ['leaf', 1, null, { a: ['string'] }], default: 'leaf' },
        children: { type: 'array', items: { $ref: '#' }, minItems: 0, uniqueItems: true },
        size: { $ref: '#/$defs/positive%20number' },
        named: { $ref: '#there' },
        nullable: { type: ['string', 'null'] },
        pair: { prefixItems: [{ type: 'string' }, true], items: false },
        constant: { const: { type: 'nonsense' } },
        'x y/z~': { not: { type: 'null' }, 'x-order': { type: 12 } },
      },
      patternProperties: { '^x-': { oneOf: [{ type: 'number', multipleOf: 0.5, exclusiveMinimum: 0 }, { type: 'boolean' }] } },
      propertyNames: { maxLength: 20 },
      required: ['id'],
      dependentRequired: { id: ['kind'] },
      dependentSchemas: { size: { required: ['kind'] } },
      additionalProperties: false,
      if: { required: ['size'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { minProperties: 2 },
      $defs: { 'positive number': { type: 'number', minimum: 0, examples: [1] }, other: { $anchor: 'there', type: 'string' } },
    };
    expect(inputOf(input)).toEqual(input);
  });

  it.each<[string, JsonValue, string]>([
    ['no object', 'string', 'schema: must be an object with input and output'],
    ['another key', { inputs: {} }, 'schema.inputs: is not known; a schema has input and output'],
    ['an unknown type', { input: { text: 'strng' } }, 'schema.input.text: must be a schema; "strng" is no type'],
    [
      'an unknown type in a schema',
      { input: { type: 'object', properties: { text: { type: 'strng' } } } },
      'schema.input.properties.text.type: must be one of string, number, integer, boolean, object, array, null, or a list of different ones of them',
    ],
    [
      'an unknown type in place of a schema',
      { input: { properties: { text: 'strng' } } },
      'schema.input.properties.text: must be a schema; "strng" is no type',
    ],
    ['a number in place of a schema', { input: { properties: { text: 1 } } }, 'schema.input.properties.text: must be a schema, not 1'],
    ['null in place of a schema', { input: { properties: { 'a b': null } } }, 'schema.input.properties["a b"]: must be a schema, not null'],
    [
      'a list of two',
      { input: { properties: { text: ['string', 'number'] } } },
      'schema.input.properties.text: must be a schema; in shorthand a list holds one type, that of its items',
    ],
    [
      'half shorthand',
      { input: { text: 'string', required: ['text'] } },
      'schema.input.text: is no keyword of JSON Schema; fields belong into properties',
    ],
    [
      'an input that is no object',
      { input: { type: 'array' } },
      'schema.input.type: must be object, since the arguments of a tool are one',
    ],
    [
      'an input that may be no object',
      { input: { type: ['object', 'null'] } },
      'schema.input.type: must be object, since the arguments of a tool are one',
    ],
    ['an input that allows nothing', { input: false }, 'schema.input: must allow some value'],
    ['properties that are a list', { input: { type: 'object', properties: [] } }, 'schema.input.properties: must be an object of schemas'],
    [
      'items as a list',
      { output: { type: 'array', items: [{ type: 'string' }, { type: 'null' }] } },
      'schema.output.items: must be a schema; in shorthand a list holds one type, that of its items',
    ],
    ['an empty union', { input: { type: 'object', anyOf: [] } }, 'schema.input.anyOf: must be a list of at least one schema'],
    [
      'a fault inside a union',
      { input: { type: 'object', anyOf: [{}, { minimum: 'x' }] } },
      'schema.input.anyOf[1].minimum: must be a number',
    ],
    [
      'required that is a flag',
      { input: { properties: { a: { type: 'string', required: true } } } },
      'schema.input.properties.a.required: must be a list of different names',
    ],
    ['required twice', { input: { type: 'object', required: ['a', 'a'] } }, 'schema.input.required: must be a list of different names'],
    [
      'an enum that is no list',
      { input: { properties: { a: { type: 'string', enum: 'a' } } } },
      'schema.input.properties.a.enum: must be a list',
    ],
    [
      'a negative length',
      { input: { properties: { a: { type: 'string', minLength: -1 } } } },
      'schema.input.properties.a.minLength: must be a whole number, 0 or more',
    ],
    [
      'a multiple of 0',
      { input: { properties: { a: { type: 'number', multipleOf: 0 } } } },
      'schema.input.properties.a.multipleOf: must be a number above 0',
    ],
    [
      'a flag that is text',
      { input: { properties: { a: { type: 'array', uniqueItems: 'yes' } } } },
      'schema.input.properties.a.uniqueItems: must be true or false',
    ],
    ['a description that is no text', { input: { type: 'object', description: 1 } }, 'schema.input.description: must be text'],
    [
      'dependentRequired of the wrong shape',
      { input: { type: 'object', dependentRequired: { a: 'b' } } },
      'schema.input.dependentRequired: must be an object of lists of names',
    ],
    [
      'a pattern that does not compile',
      { input: { properties: { a: { type: 'string', pattern: '[' } } } },
      'schema.input.properties.a.pattern: must be a regular expression of ECMA-262 with the u flag',
    ],
    [
      'a pattern that can take for ever',
      { input: { properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
      'schema.input.properties.a.pattern: repeats something that can match the same text in several ways, which can take for ever',
    ],
    [
      'such a pattern for names',
      { input: { type: 'object', patternProperties: { '(\\w|\\d)*!': {} } } },
      'schema.input.patternProperties["(\\\\w|\\\\d)*!"]: repeats something that can match the same text in several ways, which can take for ever',
    ],
    [
      'a long pattern',
      { input: { properties: { a: { type: 'string', pattern: 'a'.repeat(513) } } } },
      'schema.input.properties.a.pattern: must not be longer than 512 characters',
    ],
    [
      'a pattern of many places',
      { input: { properties: { a: { type: 'string', pattern: 'a'.repeat(101) } } } },
      'schema.input.properties.a.pattern: is too complex to be checked',
    ],
    [
      'a remote reference',
      { input: { properties: { a: { $ref: 'https://example.com/a.json' } } } },
      'schema.input.properties.a.$ref: must refer to a schema inside this one, such as #/$defs/name',
    ],
    [
      'a reference to nothing',
      { input: { properties: { a: { $ref: '#/$defs/a' } } } },
      'schema.input.properties.a.$ref: must refer to a schema inside this one, such as #/$defs/name',
    ],
    [
      'a reference that cannot be decoded',
      { input: { properties: { a: { $ref: '#/%' } } } },
      'schema.input.properties.a.$ref: must refer to a schema inside this one, such as #/$defs/name',
    ],
    [
      'a reference to an inherited member',
      { input: { properties: { a: { $ref: '#/constructor' } } } },
      'schema.input.properties.a.$ref: must refer to a schema inside this one, such as #/$defs/name',
    ],
    [
      'a reference to no schema',
      { input: { properties: { a: { $ref: '#/required' } }, required: ['a'] } },
      'schema.input.properties.a.$ref: refers to something that is no schema',
    ],
    ['a reference to itself', { input: { $ref: '#' } }, 'schema.input.$ref: refers to itself without end'],
    [
      'references in a circle',
      {
        input: {
          properties: { a: { $ref: '#/$defs/a' } },
          $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
        },
      },
      'schema.input.$defs.b.not.$ref: refers to itself without end',
    ],
    ['a dynamic reference', { input: { type: 'object', $dynamicRef: '#a' } }, 'schema.input.$dynamicRef: is not supported; use $ref'],
    [
      'an inner $id',
      { input: { properties: { a: { type: 'string', $id: 'a' } } } },
      'schema.input.properties.a.$id: is not supported inside a schema',
    ],
  ])('refuses %s', (_, schema, message) => {
    expect(faultOf(schema)).toContain(message);
  });

  it('bounds depth, size and number', () => {
    const nest = (depth: number): JsonValue => (depth === 0 ? {} : { properties: { a: nest(depth - 1) } });
    expect(() => normalizeSkillSchema({ input: nest(31) })).not.toThrow();
    expect(faultOf({ input: nest(32) })).toBe('schema.input: must not be nested deeper than 64 levels');
    expect(faultOf({ input: { type: 'object', description: 'x'.repeat(65_536) } })).toBe(
      'schema.input: must not be longer than 65536 characters',
    );
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, number) => [`p${number}`, true as const]));
    expect(() => normalizeSkillSchema({ input: { properties: many } })).not.toThrow();
    const objects = Object.fromEntries(Array.from({ length: 2_000 }, (_, number) => [`p${number}`, {}]));
    expect(faultOf({ input: { properties: objects } })).toBe('schema.input: must not hold more than 2000 schemas');
  });

  it('answers a schema of any shape with a schema or an AppError', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      '$ref',
      'required',
      'enum',
      'pattern',
      'not',
      '$defs',
      'a',
      '__proto__',
    );
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<JsonValue>('string', 'object', 'any', '#', '#/$defs/a', '', null, true, 1, 'x'),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, value, (schema, instance) => {
        try {
          const { input } = normalizeSkillSchema({ input: schema });
          expect(input.type).toBe('object');
          expect(normalizeSkillSchema({ input }).input).toEqual(input);
          const message = createSchemaValidator(input).validate(instance);
          expect(message ?? '').not.toContain('not valid');
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('createSchemaValidator', () => {
  const validate = (schema: JsonValue, value: JsonValue) => createSchemaValidator(inputOf(schema)).validate(value);

  it.each<[string, JsonValue, JsonValue, string | undefined]>([
    ['a value that fits', { text: 'string' }, { text: 'a' }, undefined],
    ['further properties', { text: 'string' }, { text: 'a', more: 1 }, undefined],
    ['a value that is no object', { text: 'string' }, 'a', 'input: must be object, not string'],
    ['a missing property', { text: 'string' }, {}, 'input.text: is required'],
    ['a missing property deeper', { list: [{ id: 'string' }] }, { list: [{ id: 'a' }, {}] }, 'input.list[1].id: is required'],
    ['a wrong type', { text: 'string' }, { text: 1 }, 'input.text: must be string, not number'],
    ['one of several types', { a: { type: ['string', 'null'] } }, { a: 1 }, 'input.a: must be string or null, not number'],
    ['a name with a blank', { 'a b': 'string' }, { 'a b': 1 }, 'input["a b"]: must be string, not number'],
    ['a name with signs of pointers', { 'a/b~c%': ['string'] }, { 'a/b~c%': [1] }, 'input["a/b~c%"][0]: must be string, not number'],
    ['a name of digits', { 0: 'string' }, { 0: 1 }, 'input["0"]: must be string, not number'],
    ['a property too many', { properties: {}, additionalProperties: false }, { x: 1 }, 'input.x: is not allowed'],
    ['no member of an enum', { a: { enum: ['x', 'y'] } }, { a: 'z' }, 'input.a: Does not match any of ["x","y"]'],
    [
      'a union',
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
      { a: 1 },
      'input.a: Does not match any subschemas',
    ],
    ['a pattern', { a: { type: 'string', pattern: '^x' } }, { a: 'y' }, 'input.a: String does not match pattern'],
    ['a length', { a: { type: 'string', maxLength: 1 } }, { a: 'yy' }, 'input.a: String is too long (2 > 1)'],
    [
      'unique items',
      { a: { type: 'array', uniqueItems: true } },
      { a: [{ b: 1 }, { b: 1 }] },
      'input.a: Duplicate items at indexes 0 and 1',
    ],
    ['a format, which is an annotation', { a: { type: 'string', format: 'email' } }, { a: 'nobody' }, undefined],
    ['an unknown keyword', { type: 'object', 'x-id': { id: '::' }, frob: { id: 1 } }, {}, undefined],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['a condition', { if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, 'input.b: is required'],
    [
      'a reference',
      { properties: { a: { $ref: '#/$defs/a b' } }, $defs: { 'a b': { type: 'string' } } },
      { a: 1 },
      'input.a: must be string, not number',
    ],
    [
      'an anchor',
      { properties: { a: { $ref: '#x' } }, $defs: { y: { $anchor: 'x', type: 'string' } } },
      { a: 1 },
      'input.a: must be string, not number',
    ],
    [
      'recursion',
      { properties: { child: { $ref: '#' } }, additionalProperties: false },
      { child: { child: { x: 1 } } },
      'input.child.child.x: is not allowed',
    ],
    [
      'a property called __proto__',
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      JSON.parse('{"__proto__":1}'),
      'input.__proto__: must be string, not number',
    ],
    [
      'a schema with $id',
      { $id: 'not a url', properties: { a: { $ref: '#/properties/b' }, b: { type: 'string' } } },
      { a: 1 },
      'input.a: must be string, not number',
    ],
  ])('judges %s', (_, schema, value, expected) => {
    expect(validate(schema, value)).toBe(expected);
  });

  it('names the root it is given', () => {
    expect(createSchemaValidator({ type: 'string' }).validate(1, 'output')).toBe('output: must be string, not number');
  });

  it('is made once per schema object', () => {
    const schema = { type: 'object' };
    expect(createSchemaValidator(schema)).toBe(createSchemaValidator(schema));
    expect(createSchemaValidator({ type: 'object' })).not.toBe(createSchemaValidator(schema));
  });

  it('leaves the schema alone', () => {
    const schema = inputOf({ properties: { a: { $ref: '#' }, b: { type: 'string', pattern: 'x' } } });
    const before = JSON.stringify(schema);
    createSchemaValidator(Object.freeze(schema)).validate({ a: { b: 'x' } });
    expect(JSON.stringify(schema)).toBe(before);
  });

  it.each<[string, JsonObject]>([
    ['a reference to nothing', { $ref: '#/nowhere' }],
    ['a remote reference', { properties: { a: { $ref: 'https://example.com/' } } }],
    ['a list where schemas belong', { properties: [] as JsonValue, items: 1, allOf: {} }],
  ])('does not throw for a schema that was never checked: %s', (_, schema) => {
    expect(createSchemaValidator(schema).validate({ a: 1 })).toBe('input: cannot be checked, because the schema of the skill is not valid');
  });

  it('does not throw for references without end', () => {
    expect(createSchemaValidator({ $ref: '#' }).validate({})).toBe('input: is too complex to be checked against the schema of the skill');
  });

  it('gives up on schemas that double the work with every level', () => {
    const child = { properties: { a: { $ref: '#' } } };
    const schema = inputOf({ ...child, allOf: [child, child] });
    let value: JsonValue = {};
    for (let depth = 0; depth < 50; depth++) value = { a: value };
    expect(createSchemaValidator(schema).validate(value)).toBe('input: is too complex to be checked against the schema of the skill');
    expect(createSchemaValidator(schema).validate({ a: { a: {} } })).toBe(undefined);
  });

  it('refuses what would take long to compare', () => {
    const list = createSchemaValidator(inputOf({ a: { type: 'array', uniqueItems: true } }));
    expect(list.validate({ a: Array.from({ length: 1_000 }, (_, item) => item) })).toBe(undefined);
    expect(list.validate({ a: Array.from({ length: 100_000 }, (_, item) => item) })).toBe(
      'input.a: Array has too many items (100000 > 1000)',
    );
    const text = createSchemaValidator(inputOf({ a: { type: 'string', pattern: '\\s+$' } }));
    expect(text.validate({ a: `${' '.repeat(9_000)}x ` })).toBe(undefined);
    expect(text.validate({ a: `${' '.repeat(1_000_000)}x` })).toBe('input.a: String is too long (1000001 > 10000)');
    const many = createSchemaValidator(inputOf({ a: { type: 'string', pattern: '^.*a.*b.*$' } }));
    expect(many.validate({ a: 'ab'.repeat(501) })).toBe('input.a: String is too long (1002 > 1000)');
  });

  it('refuses values that are nested too deep or have endless names', () => {
    let value: JsonValue = {};
    for (let depth = 0; depth < 64; depth++) value = { a: value };
    const anything = createSchemaValidator({ type: 'object' });
    expect(anything.validate(value)).toBe('input: is nested too deep or has a property whose name is too long');
    expect(anything.validate({ ['n'.repeat(1_001)]: 1 })).toBe('input: is nested too deep or has a property whose name is too long');
    expect(anything.validate({ ['n'.repeat(1_000)]: 1 })).toBe(undefined);
  });
});
