import * as z from 'zod';
import { defineSkill, type SkillContext } from '../define.ts';
import { choice, requiredText } from './input-fields.ts';
import { findSandboxNeed, isConclusive, looksDirect, refuseDirect, toSandboxOutput } from './run-direct.ts';
import {
  runInSandbox,
  SANDBOX_SKILL_TIMEOUT_MS,
  type SandboxInput,
  type SandboxOutput,
  sandboxInput,
  sandboxOutput,
} from './run-in-sandbox.ts';

const LANGUAGES = ['javascript', 'js', 'python', 'py'] as const;
type Language = (typeof LANGUAGES)[number];

/** The program comes on standard input, which has no limit on its length as an argument has. */
const javascript = { command: ['node', '-'], defaultImage: 'node:22-alpine' };
const python = { command: ['python3', '-'], defaultImage: 'python:3.12-alpine' };
const INTERPRETERS = { javascript, js: javascript, python, py: python };

/**
 * Runs the program where the setting `evalMode` says. A program that was stopped in QuickJS may be repeated in a container, since it has done
 * nothing there: it has no file, no network and no way out, and what it printed is thrown away with its engine. An execution that starts
 * direct therefore still has one effect at most, that of its container, whose run has the execution's own id.
 */
async function evaluate(code: string, language: Language, input: SandboxInput, context: SkillContext): Promise<SandboxOutput> {
  const { limits, signal } = context;
  const runContained = () => runInSandbox({ ...INTERPRETERS[language], stdin: code }, input, context);
  const { evalMode, evalAutoUpgrade } = await context.loadEvalSettings();
  if (evalMode === 'sandbox') return runContained();
  const need = findSandboxNeed(language, input);
  if (evalMode === 'direct' && need !== undefined) refuseDirect(need);
  const startsDirect = evalMode === 'direct' || (need === undefined && looksDirect(code, input.timeoutMs, limits.sandboxTimeoutMs));
  if (!startsDirect) return runContained();
  const run = await context.runDirect(code, { maxOutputChars: limits.maxSandboxOutputChars, signal });
  return evalMode === 'hybrid' && evalAutoUpgrade && !isConclusive(run) ? runContained() : toSandboxOutput(run);
}

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
    return { language, ...(await evaluate(code, language, input, context)) };
  },
});
