import * as z from 'zod';
import { defineSkill } from '../define.ts';
import { requiredText } from './input-fields.ts';
import { runInSandbox, SANDBOX_SKILL_TIMEOUT_MS, sandboxInput, sandboxOutput } from './run-in-sandbox.ts';

/** The most that a run takes, less the command itself. */
const MAX_ARGS = 999;

const argument = z
  .union([z.string(), z.number(), z.boolean()], { error: 'Command arguments must be strings, numbers, or booleans' })
  .transform(String);

export const executeCommand = defineSkill({
  name: 'execute_command',
  version: '1.0.0',
  description:
    'Run one command in an isolated container and return what it prints. There is no shell: for one, use command sh with args -c and a line.',
  tags: ['command', 'shell', 'sandbox'],
  mode: 'on',
  policy: 'manual',
  idempotent: false,
  timeoutMs: SANDBOX_SKILL_TIMEOUT_MS,
  input: z.object({
    command: requiredText('Missing required field: command').describe('The program, without its arguments.'),
    args: z
      .array(argument, { error: (issue) => (issue.code === 'invalid_type' ? 'Field args must be an array' : undefined) })
      .max(MAX_ARGS)
      .default([])
      .describe('Its arguments, one each.'),
    ...sandboxInput,
  }),
  output: z.object({ command: z.string(), args: z.array(z.string()), ...sandboxOutput }),
  async execute({ command, args, ...input }, context) {
    const run = await runInSandbox({ command: [command, ...args], defaultImage: 'alpine:3.20' }, input, context);
    return { command, args, ...run };
  },
});
