import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../json.ts';
import { type SkillContext, SkillError } from '../skills/define.ts';
import { parseInput } from '../skills/parse-input.ts';

/** What custom skills name as their `handlerCode`. */
export interface Handler<Output extends JsonObject = JsonObject> {
  name: string;
  /** Rejects with a SkillError when the input is not what the function takes. */
  run(input: JsonValue, context: SkillContext): Promise<Output>;
}

interface Definition<Input extends z.ZodType, Output extends z.ZodType> {
  name: string;
  input: Input;
  output: Output;
  run(input: z.output<Input>, context: SkillContext): Promise<z.input<Output>> | z.input<Output>;
}

/** Declares a handler. What `run` answers has to fit `output`; anything else is a bug and throws. Members that are undefined are left out. */
export function defineHandler<Input extends z.ZodType, Output extends z.ZodType<Record<string, unknown>>>(
  definition: Definition<Input, Output>,
): Handler<JsonObject & z.output<Output>> {
  const { name, input, output, run } = definition;
  return {
    name,
    async run(value, context) {
      const parsed = parseInput(input, value);
      if (!parsed.success) throw new SkillError(parsed.error);
      return JSON.parse(JSON.stringify(output.parse(await run(parsed.data, context)))) as JsonObject & z.output<Output>;
    },
  };
}
