import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../../src/skills/define.ts';
import { createSkillContext } from '../support/skill-context.ts';

const skill = defineSkill({
  name: 'sum',
  version: '1.0.0',
  description: 'Adds up.',
  tags: [],
  mode: 'on',
  policy: 'auto',
  idempotent: true,
  input: z.object({
    numbers: z.array(z.int().max(10, 'Too much for me')).min(1),
    unit: z.enum(['cm', 'm']).default('m'),
    note: z.string().optional(),
    extra: z.record(z.string(), z.string()).optional(),
  }),
  output: z.object({ success: z.literal(true), sum: z.int(), unit: z.string() }),
  execute: async ({ numbers, unit }) => ({ success: true, sum: numbers.reduce((sum, number) => sum + number, 0), unit }),
});

describe('defineSkill', () => {
  it('derives both JSON Schemas', () => {
    expect(skill.schema).toEqual({
      input: {
        type: 'object',
        properties: {
          numbers: { type: 'array', minItems: 1, items: { type: 'integer', maximum: 10 } },
          unit: { type: 'string', enum: ['cm', 'm'], default: 'm' },
          note: { type: 'string' },
          extra: { type: 'object', additionalProperties: { type: 'string' } },
        },
        required: ['numbers'],
      },
      output: {
        type: 'object',
        properties: { success: { type: 'boolean', const: true }, sum: { type: 'integer' }, unit: { type: 'string' } },
        required: ['success', 'sum', 'unit'],
        additionalProperties: false,
      },
    });
  });

  it('fills in defaults, takes null for left out and leaves unknown fields out', () => {
    expect(skill.parse({ numbers: [1, 2], unit: null, note: null, other: 1 })).toEqual({
      success: true,
      data: { numbers: [1, 2], unit: 'm' },
    });
  });

  it.each([
    [{}, 'numbers: Invalid input: expected array, received undefined'],
    [{ numbers: null }, 'numbers: Invalid input: expected array, received undefined'],
    [{ numbers: [] }, 'numbers: Too small: expected array to have >=1 items'],
    [{ numbers: [1, 'x'] }, 'numbers.1: Invalid input: expected number, received string'],
    [{ numbers: [11] }, 'Too much for me'],
    [{ numbers: [1], unit: 'km' }, 'unit: Invalid option: expected one of "cm"|"m"'],
    [{ numbers: [1], extra: { a: 1 } }, 'extra.a: Invalid input: expected string, received number'],
    ['text', 'Invalid input: expected object, received string'],
  ])('answers %j with the first fault', (input, error) => expect(skill.parse(input)).toEqual({ success: false, error }));

  it('runs what it parsed', async () => {
    const parsed = skill.parse({ numbers: [1, 2, 3] });
    expect(parsed.success && (await skill.execute(parsed.data, createSkillContext()))).toEqual({ success: true, sum: 6, unit: 'm' });
  });

  it('leaves the time limit to the executor unless it has its own', () => expect(skill.timeoutMs).toBeNull());
});
