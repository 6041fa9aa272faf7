import type { Handler } from '../handlers/define-handler.ts';
import { handlers } from '../handlers/index.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { builtinSkills } from '../skills/builtin/index.ts';
import { type BuiltinSkill, SkillError } from '../skills/define.ts';
import type { Skill } from '../skills/skill.ts';
import { createSchemaValidator } from '../skills/skill-schema.ts';
import type { Runnable } from './runnable.ts';

const builtins: ReadonlyMap<string, BuiltinSkill> = new Map(builtinSkills.map((skill) => [skill.name, skill]));

/** For rows that outlived the code they name: the fault is told before anything runs. */
const notInThisRelease = (skill: Skill): Runnable => ({
  parse: () => ({ success: false, error: `This release has no ${skill.kind} named ${skill.handler}` }),
  run: () => Promise.reject(new SkillError(`This release has no ${skill.kind} named ${skill.handler}`, { beforeRun: true })),
});

function createBuiltinRunnable(skill: BuiltinSkill): Runnable {
  return { parse: (input) => skill.parse(input), run: (data, context) => skill.execute(data, context) };
}

function createHandlerRunnable(handler: Handler, { schema }: Skill): Runnable {
  const inputs = createSchemaValidator(schema.input);
  const outputs = createSchemaValidator(schema.output);
  return {
    parse(input) {
      const fault = inputs.validate(input);
      return fault === undefined ? { success: true, data: input } : { success: false, error: fault };
    },
    async run(data, context) {
      const output = await handler.run(data as JsonValue, context);
      const fault = outputs.validate(output);
      if (fault !== undefined) throw new SkillError(`Output does not fit the skill's schema: ${fault}`);
      return output;
    },
  };
}

/** The model reads the SKILL.md and follows it; there is nothing else to run. */
function createInstructionsRunnable({ schema, handler: instructions }: Skill): Runnable {
  const inputs = createSchemaValidator(schema.input);
  return {
    parse(input) {
      const fault = inputs.validate(input);
      return fault === undefined ? { success: true, data: input } : { success: false, error: fault };
    },
    run: (): Promise<JsonObject> => Promise.resolve({ success: true, instructions }),
  };
}

/** How a stored skill is run: built-in skills and handlers by their name, instructions by being handed to the model. */
export function createRunnable(skill: Skill): Runnable {
  switch (skill.kind) {
    case 'builtin': {
      const builtin = builtins.get(skill.handler);
      return builtin === undefined ? notInThisRelease(skill) : createBuiltinRunnable(builtin);
    }
    case 'handler': {
      const handler = handlers.get(skill.handler);
      return handler === undefined ? notInThisRelease(skill) : createHandlerRunnable(handler, skill);
    }
    case 'instructions':
      return createInstructionsRunnable(skill);
    default:
      return skill.kind satisfies never;
  }
}
