import * as z from 'zod';
import { boundedArray } from './bounded-array.ts';

/** What paths are put behind. It holds no credentials, since settings can be read. */
const baseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  }, 'Use a URL without user, query and fragment');

/** Where `eval_code` runs programs: in a container, inside the worker, or inside the worker when the program looks as if it could. */
const EVAL_MODES = ['sandbox', 'direct', 'hybrid'] as const;

export const RESULT_MODES = ['loop', 'inline'] as const;

/** What an operator may change while the gateway runs; stored in the `settings` table, one JSON value per key. */
export const settingsSchema = z.strictObject({
  skillsEnabled: z.boolean().default(true),
  /** False leaves only the built-in skills: no other is offered or run. */
  customSkillExecutionEnabled: z.boolean().default(true),
  resultMode: z.enum(RESULT_MODES).default('loop'),
  autoMinScore: z.int().min(1).max(100).default(3),
  autoMaxSkills: z.int().min(0).max(64).default(5),
  maxRounds: z.int().min(1).max(50).default(10),
  loopTimeoutMs: z.int().min(1_000).max(600_000).default(120_000),
  maxResultBytes: z.int().min(256).max(1_048_576).default(32_768),
  maxRequestResultBytes: z.int().min(256).max(8_388_608).default(131_072),
  maxIdenticalCalls: z.int().min(1).max(100).default(3),
  maxFailedRounds: z.int().min(1).max(50).default(3),
  workspaceMaxBytes: z.int().min(0).default(67_108_864),
  workspaceMaxFiles: z.int().min(0).default(1_000),
  /** The marketplace that skills are installed from. */
  skillsProvider: z.enum(['skillsmp', 'skillssh']).default('skillsmp'),
  /** Never answered; null takes it away. */
  skillsmpApiKey: z
    .string()
    .regex(/^[\x21-\x7e]{1,500}$/, 'Use 1 to 500 printable ASCII characters without spaces')
    .nullable()
    .default(null),
  skillsmpBaseUrl: baseUrl.default('https://skillsmp.com'),
  skillsshBaseUrl: baseUrl.default('https://skills.sh'),
  /** Where the SKILL.md of both are read from. */
  githubRawBaseUrl: baseUrl.default('https://raw.githubusercontent.com'),
  /** Models, as in `model`, that are tried in turn when the first one's provider is full, failing or cannot be reached. */
  fallbackModels: boundedArray(z.string().min(1).max(200), 10).default([]),
  evalMode: z.enum(EVAL_MODES).default('sandbox'),
  /** Whether `hybrid` repeats a program in a container when it turns out that it needs one. */
  evalAutoUpgrade: z.boolean().default(true),
  executionRetentionDays: z.int().min(1).max(3_650).default(30),
});

export type Settings = z.infer<typeof settingsSchema>;

export const DEFAULT_SETTINGS: Settings = settingsSchema.parse({});

/** The settings as callers may see them: of a secret only whether it is set. */
export const publicSettingsSchema = settingsSchema.omit({ skillsmpApiKey: true }).extend({ skillsmpApiKeySet: z.boolean() });

export function toPublicSettings({ skillsmpApiKey, ...settings }: Settings): z.infer<typeof publicSettingsSchema> {
  return { ...settings, skillsmpApiKeySet: skillsmpApiKey !== null };
}
