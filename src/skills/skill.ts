import * as z from 'zod';
import type { JsonObject } from '../json.ts';

export const SKILL_MODES = ['on', 'off', 'auto'] as const;
export const SKILL_POLICIES = ['auto', 'manual', 'hybrid'] as const;
export const SKILL_KINDS = ['builtin', 'handler', 'instructions'] as const;
export const SOURCE_PROVIDERS = ['builtin', 'skillsmp', 'skillssh', 'local'] as const;
export const RISKS = ['remote_shell', 'secret', 'prompt_override', 'hidden_text', 'destructive_command'] as const;

export type SkillMode = (typeof SKILL_MODES)[number];
export type SkillPolicy = (typeof SKILL_POLICIES)[number];
export type SkillKind = (typeof SKILL_KINDS)[number];
/** Tags of skills from marketplaces that tell where they are from, not what they are for. */
export const SOURCE_TAGS = ['popular', 'marketplace', 'community'] as const;
export type SourceTag = (typeof SOURCE_TAGS)[number];
export type SourceProvider = (typeof SOURCE_PROVIDERS)[number];

/** The owner whose skills every key sees. */
export const SYSTEM_OWNER = 'system';
/** The owner of what is done without an API key, by the management. */
export const ANONYMOUS_OWNER = 'anonymous';

export const skillName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'Use 1 to 100 letters, digits, ".", "_" or "-", starting with a letter or digit');
export const skillVersion = z
  .string()
  .max(100)
  .regex(/^\d+\.\d+\.\d+$/, 'Use a version such as 1.0.0');

/** JSON Schemas (2020-12) of what goes in and what comes out. */
export interface SkillSchema {
  input: JsonObject;
  output: JsonObject;
}

/** A passage of a SKILL.md that an operator should read before a model follows it. */
export interface RiskFinding {
  risk: (typeof RISKS)[number];
  /** Counted from 1. */
  line: number;
  /** The passage itself, or the start of it. */
  text: string;
}

export interface Skill {
  id: string;
  /** The owner: an API key's id, or `system`. */
  apiKeyId: string;
  name: string;
  version: string;
  description: string;
  schema: SkillSchema;
  /** kind `builtin`: its own name; `handler`: the registered function; `instructions`: the text of the SKILL.md below its frontmatter. */
  handler: string;
  kind: SkillKind;
  enabled: boolean;
  mode: SkillMode;
  policy: SkillPolicy;
  sourceProvider: SourceProvider;
  sourceUrl: string | null;
  contentSha256: string | null;
  tags: string[];
  installCount: number;
  timeoutMs: number | null;
  maxRetries: number | null;
  idempotent: boolean;
  riskFindings: RiskFinding[];
  createdAt: string;
  updatedAt: string;
}

/** `name@version`, the identity of a skill within one owner. */
export const skillKey = (skill: Pick<Skill, 'name' | 'version'>): string => `${skill.name}@${skill.version}`;

/** Whether the skill may run at all, by anyone. */
export const isExecutable = (skill: Pick<Skill, 'enabled' | 'mode'>): boolean => skill.enabled && skill.mode !== 'off';
