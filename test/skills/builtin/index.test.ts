import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/json.ts';
import { asArray, isJsonObject } from '../../../src/json.ts';
import { builtinSkills } from '../../../src/skills/builtin/index.ts';

function keysIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, field]) => [key, ...keysIn(field)]) : [];
}

describe('builtinSkills', () => {
  it('are seven, with their modes and policies', () => {
    expect(builtinSkills.map(({ name, version, mode, policy }) => `${name}@${version} ${mode} ${policy}`)).toEqual([
      'file_read@1.0.0 on auto',
      'file_write@1.0.0 on auto',
      'http_request@1.0.0 on auto',
      'web_search@1.0.0 on auto',
      'eval_code@1.0.0 on hybrid',
      'execute_command@1.0.0 on manual',
      'browser@1.0.0 off manual',
    ]);
  });

  it('may be repeated only when a repeat changes nothing', () => {
    expect(builtinSkills.filter(({ idempotent }) => idempotent).map(({ name }) => name)).toEqual(['file_read', 'web_search']);
  });

  describe.each(builtinSkills.map((skill) => [skill.name, skill] as const))('%s', (_, skill) => {
    it('shows the model a small object schema without noise', () => {
      const { input } = skill.schema;
      expect(input.type).toBe('object');
      expect(keysIn(input)).not.toContain('$schema');
      expect(keysIn(input)).not.toContain('$ref');
      expect(keysIn(input)).not.toContain('propertyNames');
      expect(JSON.stringify(input)).not.toContain('9007199254740991');
      expect(JSON.stringify(input).length).toBeLessThan(1_200);
    });

    it('requires only what has no default, and says what each required field is', () => {
      const { required, properties } = skill.schema.input;
      for (const name of asArray(required)) {
        const field = isJsonObject(properties) ? properties[name as string] : undefined;
        expect(field).toMatchObject({ type: 'string', description: expect.stringMatching(/\.$/) });
      }
    });

    it('says in its output whether it succeeded', () => {
      const { properties, required } = skill.schema.output;
      expect(properties).toMatchObject({ success: { type: 'boolean' } });
      expect(required).toContain('success');
    });

    it.each(['text', 1, true, null, [[]]])('refuses %j, which is no object', (input) => {
      expect(skill.parse(input)).toMatchObject({
        success: false,
        error: expect.stringMatching(/^Invalid input: expected object, received /),
      });
    });
  });
});
