import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineHandler } from '../../src/handlers/define-handler.ts';
import { handlers } from '../../src/handlers/index.ts';
import type { JsonValue } from '../../src/json.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createSkillContext } from '../support/skill-context.ts';

const context = createSkillContext();
const run = (name: string, input: JsonValue) => handlers.get(name)?.run(input, context);

describe('handlers', () => {
  it('are known by their names', () => {
    expect([...handlers.keys()]).toEqual(expect.arrayContaining(['echo-handler', 'reverse-text']));
    expect([...handlers.values()].map(({ name }) => name)).toEqual([...handlers.keys()]);
  });

  it.each([[{}], [{ text: 'hi' }], [{ a: [1, { b: null }], c: true }]])('echo-handler answers %j with itself', async (input) => {
    expect(await run('echo-handler', input)).toEqual(input);
  });

  it.each([
    ['', ''],
    ['abc', 'cba'],
    ['añb', 'bña'],
    ['e\u0301a', 'ae\u0301'],
    ['a👍🏽b', 'b👍🏽a'],
    ['👨‍👩‍👧 🇳🇴!', '!🇳🇴 👨‍👩‍👧'],
    ['नमस्ते', 'स्तेमन'],
  ])('reverse-text turns %j into %j', async (text, reversed) => expect(await run('reverse-text', { text })).toEqual({ reversed }));

  it('reverse-text undoes itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'ß', '👍🏽', '👨‍👩‍👧', '日', ' ')), async (characters) => {
        const once = await run('reverse-text', { text: characters.join('') });
        const twice = await run('reverse-text', { text: once?.reversed ?? null });
        expect(twice).toEqual({ reversed: characters.join('') });
      }),
    );
  });

  it.each([
    ['echo-handler', 'text', 'Invalid input: expected record, received string'],
    ['reverse-text', {}, 'text: Invalid input: expected string, received undefined'],
    ['reverse-text', { text: 1 }, 'text: Invalid input: expected string, received number'],
  ])('%s answers %j with what is wrong', async (name, input, message) => {
    await expect(run(name, input)).rejects.toEqual(new SkillError(message));
  });

  it('hands the context on', async () => {
    const whose = defineHandler({
      name: 'whose',
      input: z.object({}),
      output: z.object({ key: z.string() }),
      run: (_, { apiKeyId }) => ({ key: apiKeyId }),
    });
    expect(await whose.run({}, context)).toEqual({ key: 'key-1' });
  });

  it('leaves out members that are undefined, which no schema allows', async () => {
    const maybe = defineHandler({
      name: 'maybe',
      input: z.object({}),
      output: z.object({ count: z.int(), note: z.string().optional() }),
      run: () => ({ count: 1, note: undefined }),
    });
    const output = await maybe.run({}, context);
    expect(Object.keys(output)).toEqual(['count']);
    const note: string | undefined = output.note;
    expect(note).toBeUndefined();
  });

  it('throws when a handler does not answer what it declares', async () => {
    const wrong = defineHandler({
      name: 'wrong',
      input: z.object({}),
      output: z.object({ count: z.int().max(1) }),
      run: () => ({ count: 2 }),
    });
    await expect(wrong.run({}, context)).rejects.toThrow(z.ZodError);
  });
});
