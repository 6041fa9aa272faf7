import { describe, expect, it } from 'vitest';
import { createRunnable } from '../../src/execution/runnable-skill.ts';
import { handlers } from '../../src/handlers/index.ts';
import type { JsonObject } from '../../src/json.ts';
import { builtinSkills } from '../../src/skills/builtin/index.ts';
import { SkillError } from '../../src/skills/define.ts';
import type { Skill } from '../../src/skills/skill.ts';
import { makeSkill } from '../support/make-skill.ts';
import { createRecordingSandbox, createSkillContext } from '../support/skill-context.ts';

const text: JsonObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

const skillOf = (fields: Partial<Skill>): Skill =>
  makeSkill({ name: 'mine', schema: { input: text, output: { type: 'object' } }, handler: 'echo-handler', ...fields });

const context = createSkillContext({ sandbox: createRecordingSandbox({ stdout: '3\n' }) });

async function run(skill: Skill, input: JsonObject) {
  const runnable = createRunnable(skill);
  const parsed = runnable.parse(input);
  if (!parsed.success) return parsed;
  return runnable.run(parsed.data, context);
}

describe('createRunnable for a built-in skill', () => {
  const evalCode = skillOf({ kind: 'builtin', name: 'eval_code', handler: 'eval_code' });

  it('runs it with its defaults', async () => {
    expect(await run(evalCode, { code: 'print(1 + 2)', language: 'python', image: null })).toMatchObject({
      success: true,
      image: 'python:3.12-alpine',
      output: '3\n',
    });
  });

  it('answers with its own messages, whatever schema is stored', () => {
    expect(createRunnable(evalCode).parse({})).toEqual({ success: false, error: 'Missing required field: code' });
  });

  it.each(builtinSkills.map(({ name }) => name))('knows %s', (name) => {
    const runnable = createRunnable(skillOf({ kind: 'builtin', name, handler: name }));
    expect(runnable.parse({})).toEqual(builtinSkills.find((skill) => skill.name === name)?.parse({}));
  });

  it('says when the release has no such skill', async () => {
    const runnable = createRunnable(skillOf({ kind: 'builtin', handler: 'time_travel' }));
    expect(runnable.parse({})).toEqual({ success: false, error: 'This release has no built-in skill named time_travel' });
    await expect(runnable.run({}, context)).rejects.toEqual(new SkillError('This release has no built-in skill named time_travel'));
  });
});

describe('createRunnable for a handler', () => {
  it.each([...handlers.keys()])('knows %s', (handler) => {
    expect(createRunnable(skillOf({ handler })).parse({ text: 'x' })).toEqual({ success: true, data: { text: 'x' } });
  });

  it('runs it', async () => {
    expect(await run(skillOf({}), { text: 'hi', more: 1 })).toEqual({ text: 'hi', more: 1 });
    expect(await run(skillOf({ handler: 'reverse-text' }), { text: 'hi' })).toEqual({ reversed: 'ih' });
  });

  it.each([{}, { text: 1 }, { text: null }])("refuses %j, which does not fit the skill's schema, and names the place", (input) => {
    expect(createRunnable(skillOf({})).parse(input)).toEqual({ success: false, error: expect.stringContaining('text') });
  });

  it('refuses what the schema allows but the handler does not take', async () => {
    const skill = skillOf({ handler: 'reverse-text', schema: { input: { type: 'object' }, output: { type: 'object' } } });
    await expect(run(skill, { text: 1 })).rejects.toEqual(new SkillError('text: Invalid input: expected string, received number'));
  });

  it("refuses an output that does not fit the skill's schema, and names the place", async () => {
    const skill = skillOf({ schema: { input: { type: 'object' }, output: text } });
    const running = run(skill, { text: 1 });
    await expect(running).rejects.toBeInstanceOf(SkillError);
    await expect(running).rejects.toThrow(/^Output does not fit the skill's schema: .*text/);
  });

  it('says when the release has no such handler', () => {
    expect(createRunnable(skillOf({ handler: 'gone' })).parse({})).toEqual({
      success: false,
      error: 'This release has no handler named gone',
    });
  });
});

describe('createRunnable for instructions', () => {
  const skill = skillOf({ kind: 'instructions', handler: '# How to\nDo this.' });

  it('hands the instructions to the model', async () => {
    expect(await run(skill, { text: 'x' })).toEqual({ success: true, instructions: '# How to\nDo this.' });
  });

  it('reads them when they are wanted, and says when they have gone', async () => {
    const stored = new Map([[skill.id, 'As stored']]);
    const runnable = createRunnable({ ...skill, handler: '' }, handlers, async ({ id }) => stored.get(id));
    expect(await runnable.run({}, context)).toEqual({ success: true, instructions: 'As stored' });
    stored.clear();
    await expect(runnable.run({}, context)).rejects.toEqual(new SkillError('mine is no longer installed'));
  });

  it('checks the input too', () => expect(createRunnable(skill).parse({})).toMatchObject({ success: false }));
});
