import type * as z from 'zod';
import type { BrowserRunRequestInput, BrowserRunResult } from '../contract/browser-runs.ts';
import type { OutputStream, RunRequestInput, RunResult } from '../contract/runs.ts';
import { type JsonObject, type JsonValue, withoutNulls } from '../json.ts';
import { toJsonSchema } from '../json-schema.ts';
import type { RunDirect } from '../quickjs/direct-run.ts';
import type { Settings } from '../settings.ts';
import type { WebSearch } from '../web-search/search-provider.ts';
import { type Parsed, parseInput } from './parse-input.ts';
import type { SkillMode, SkillPolicy, SkillSchema } from './skill.ts';

/** A failure whose message the model or the caller should read as it stands. Never holds secrets or paths of a machine. */
export class SkillError extends Error {
  override readonly name = 'SkillError';
  /** True when nothing has run yet, so that a repeat is safe whatever the skill does. */
  readonly beforeRun: boolean;
  /** True when the same call may succeed a moment later, so that a skill which is idempotent is tried again. */
  readonly transient: boolean;

  constructor(message: string, options: { beforeRun?: boolean; transient?: boolean } = {}) {
    super(message);
    this.beforeRun = options.beforeRun ?? false;
    this.transient = options.transient ?? false;
  }
}

/** One API key's files. Paths are checked by the workspace itself; every method rejects with a SkillError. */
export interface Workspace {
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Atomic. `append` adds to what is there; without `overwrite` an existing file is an error. */
  write(path: string, content: Uint8Array, options: { append: boolean; overwrite: boolean; maxBytes: number }): Promise<{ path: string }>;
}

/** Is told what a program prints, as it comes. */
export type OnOutput = (stream: OutputStream, text: string) => void;

export interface SandboxRunOptions {
  signal: AbortSignal;
  /** Is told the URL of the host that is asked for the run, and null when it did not take it. */
  onHost?(host: string | null): void;
  /** Is told the output while the program runs; the result has all of it again. */
  onOutput?: OnOutput | undefined;
}

/** Runs one program in a container. Rejects with a SkillError; aborting the signal kills the run. */
export interface Sandbox {
  run(request: RunRequestInput, options: SandboxRunOptions): Promise<RunResult>;
}

/** Runs steps in a browser of their own, in a container. Rejects with a SkillError; aborting the signal kills the run. */
export interface Browser {
  browse(request: BrowserRunRequestInput, options: SandboxRunOptions): Promise<BrowserRunResult>;
}

/** A fetch that reaches public addresses only; never follows redirects. Rejects with a SkillError. */
export type PublicFetch = (url: URL, init: RequestInit & { signal: AbortSignal }) => Promise<Response>;

/** The `SKILLS_*` limits of the configuration. */
export interface SkillLimits {
  maxFileBytes: number;
  maxHttpResponseBytes: number;
  maxSandboxOutputChars: number;
  sandboxTimeoutMs: number;
  sandboxNetworkEnabled: boolean;
  allowedSandboxImages: readonly string[];
}

/** What a running skill is given. */
export interface SkillContext {
  /** The skill that is run: a handler may serve several. */
  skill: { name: string; version: string };
  apiKeyId: string;
  sessionId: string | null;
  executionId: string;
  /** Fires at the skill's timeout and when the client leaves. */
  signal: AbortSignal;
  /** There when somebody watches the execution: a skill may tell what it prints while it runs. */
  onOutput?: OnOutput | undefined;
  workspace: Workspace;
  sandbox: Sandbox;
  browser: Browser;
  publicFetch: PublicFetch;
  webSearch: WebSearch;
  limits: SkillLimits;
  /** How `eval_code` is to run programs, as the settings say now. */
  loadEvalSettings(): Promise<Pick<Settings, 'evalMode' | 'evalAutoUpgrade'>>;
  runDirect: RunDirect;
}

/** A skill of our own, whose JSON Schemas are derived from zod and whose messages are those of its zod schemas. */
export interface BuiltinSkill {
  name: string;
  version: string;
  description: string;
  tags: readonly string[];
  mode: SkillMode;
  policy: SkillPolicy;
  idempotent: boolean;
  /** Longest a call of this skill may take; null leaves it to the executor's default. */
  timeoutMs: number | null;
  schema: SkillSchema;
  /** The input with its defaults, or the message of the first fault. */
  parse(input: JsonValue): Parsed<unknown>;
  /** Whether a call with this input, as `parse` gives it, changes nothing anywhere, so that it may run before it is known to count. */
  isReadOnly(input: unknown): boolean;
  /** Calls of one turn with the same key run one after the other, in their order. */
  sequenceKey(input: unknown): string | undefined;
  execute(input: unknown, context: SkillContext): Promise<JsonObject>;
}

interface Definition<Input extends z.ZodType, Output extends z.ZodType>
  extends Omit<BuiltinSkill, 'schema' | 'parse' | 'isReadOnly' | 'sequenceKey' | 'execute' | 'timeoutMs'> {
  timeoutMs?: number;
  input: Input;
  output: Output;
  /** No call is, when it is left out. */
  isReadOnly?(input: z.output<Input>): boolean;
  sequenceKey?(input: z.output<Input>): string;
  execute(input: z.output<Input>, context: SkillContext): Promise<z.output<Output> & JsonObject>;
}

/** Declares a built-in skill. A message given to a zod check is the error text as it stands; zod's own messages get the path in front. */
export function defineSkill<Input extends z.ZodType, Output extends z.ZodType>(definition: Definition<Input, Output>): BuiltinSkill {
  const { input, output, execute, isReadOnly = () => false, sequenceKey, timeoutMs, ...rest } = definition;
  let schema: SkillSchema | undefined;
  return {
    ...rest,
    timeoutMs: timeoutMs ?? null,
    // Made when it is first asked for: most isolates never do, since the stored skill has it.
    get schema() {
      schema ??= { input: toJsonSchema(input, 'input'), output: toJsonSchema(output, 'output') };
      return schema;
    },
    parse: (value) => parseInput(input, withoutNulls(value)),
    isReadOnly: (value) => isReadOnly(value as z.output<Input>),
    sequenceKey: (value) => sequenceKey?.(value as z.output<Input>),
    execute: (value, context) => execute(value as z.output<Input>, context),
  };
}
