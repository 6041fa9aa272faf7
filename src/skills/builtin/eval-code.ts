import * as z from 'zod';
import { defineSkill } from '../define.ts';
import { choice, requiredText } from './input-fields.ts';
import { runInSandbox, SANDBOX_SKILL_TIMEOUT_MS, sandboxInput, sandboxOutput } from './run-in-sandbox.ts';

const LANGUAGES = ['javascript', 'js', 'python', 'py'] as const;

/** The program comes on standard input, which has no limit on its length as an argument has. */
const javascript = { command: ['node', '-'], defaultImage: 'node:22-alpine' };
const python = { command: ['python3', '-'], defaultImage: 'python:3.12-alpine' };
const INTERPRETERS = { javascript, js: javascript, python, py: python };

export const evalCode = defineSkill({
  name: 'eval_code',
  version: '1.0.0',
  description: 'Run a JavaScript (Node 22) or Python 3.12 program in an isolated container and return what it prints.',
  tags: ['code', 'javascript', 'python', 'sandbox'],
  mode: 'on',
  policy: 'hybrid',
  idempotent: false,
  timeoutMs: SANDBOX_SKILL_TIMEOUT_MS,
  input: z.object({
    code: requiredText('Missing required field: code').describe('The whole program. Print what should be returned.'),
    language: choice(LANGUAGES, { unknown: 'Unsupported code language', fold: (text) => text.toLowerCase() })
      .default('javascript')
      .describe('Default javascript.'),
    ...sandboxInput,
  }),
  output: z.object({ language: z.enum(LANGUAGES), ...sandboxOutput }),
  async execute({ code, language, ...input }, context) {
    return { language, ...(await runInSandbox({ ...INTERPRETERS[language], stdin: code }, input, context)) };
  },
});
