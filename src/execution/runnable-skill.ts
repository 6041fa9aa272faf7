import type { Handler } from '../handlers/define-handler.ts';
import { handlers } from '../handlers/index.ts';
import type { JsonValue } from '../json.ts';
import { builtinSkills } from '../skills/builtin/index.ts';
import { type BuiltinSkill, SkillError } from '../skills/define.ts';
import type { Skill } from '../skills/skill.ts';
import { createSchemaValidator } from '../skills/skill-schema.ts';
import type { Runnable } from './runnable.ts';

const builtins: ReadonlyMap<string, BuiltinSkill> = new Map(builtinSkills.map((skill) => [skill.name, skill]));

/** For rows that outlived the code they name: the fault is told before anything runs. */
function notInThisRelease({ kind, handler }: Skill): Runnable {
  const error = `This release has no ${kind === 'handler' ? 'handler' : 'built-in skill'} named ${handler}`;
  return { parse: () => ({ success: false, error }), isReadOnly: () => false, run: () => Promise.reject(new SkillError(error)) };
}

function createBuiltinRunnable(skill: BuiltinSkill): Runnable {
  return {
    parse: (input) => skill.parse(input),
    isReadOnly: (data) => skill.isReadOnly(data),
    sequenceKey: (data) => skill.sequenceKey(data),
    run: (data, context) => skill.execute(data, context),
  };
}

/** Takes the input as it is when it fits the skill's stored schema. */
function parseBySchema({ schema }: Skill): Runnable['parse'] {
  const validator = createSchemaValidator(schema.input);
  return (input) => {
    const error = validator.validate(input);
    return error === undefined ? { success: true, data: input } : { success: false, error };
  };
}

function createHandlerRunnable(handler: Handler, skill: Skill): Runnable {
  const outputs = createSchemaValidator(skill.schema.output);
  return {
    parse: parseBySchema(skill),
    isReadOnly: () => false,
    async run(data, context) {
      const output = await handler.run(data as JsonValue, context);
      const fault = outputs.validate(output, 'output');
      if (fault !== undefined) throw new SkillError(`Output does not fit the skill's schema: ${fault}`);
      return output;
    },
  };
}

/** Undefined when the skill has gone. */
export type ReadInstructions = (skill: Skill) => Promise<string | undefined>;

/** The model reads the SKILL.md and follows it; there is nothing else to run. */
const createInstructionsRunnable = (skill: Skill, readInstructions: ReadInstructions): Runnable => ({
  parse: parseBySchema(skill),
  isReadOnly: () => true,
  async run() {
    const instructions = await readInstructions(skill);
    if (instructions === undefined) throw new SkillError(`${skill.name} is no longer installed`);
    return { success: true, instructions };
  },
});

/** How a stored skill is run: built-in skills and the known handlers by their name, instructions by being handed to the model. */
export function createRunnable(
  skill: Skill,
  known: Pick<ReadonlyMap<string, Handler>, 'get'> = handlers,
  readInstructions: ReadInstructions = async ({ handler }) => handler,
): Runnable {
  switch (skill.kind) {
    case 'builtin': {
      const builtin = builtins.get(skill.handler);
      return builtin === undefined ? notInThisRelease(skill) : createBuiltinRunnable(builtin);
    }
    case 'handler': {
      const handler = known.get(skill.handler);
      return handler === undefined ? notInThisRelease(skill) : createHandlerRunnable(handler, skill);
    }
    case 'instructions':
      return createInstructionsRunnable(skill, readInstructions);
    default:
      return skill.kind satisfies never;
  }
}
