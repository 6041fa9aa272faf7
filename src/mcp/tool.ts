import type * as z from 'zod';
import type { Principal, Scope } from '../api/principal.ts';
import { invalidRequest } from '../api/validate.ts';
import type { JsonObject } from '../json.ts';
import { toJsonSchema } from '../json-schema.ts';
import type { Question, SkillCall } from './call-skill.ts';

/** A call of a tool, and who makes it. */
export interface ToolCall extends SkillCall {
  principal: Principal;
}

/** What a tool answers: `structured` fits its output schema, `text` is for clients that read only text and its JSON when left out. */
export type ToolAnswer = { structured: JsonObject; text?: string; failed?: boolean; meta?: JsonObject } | { asks: Question };

/** Hints for clients (MCP, tools, ToolAnnotations). */
export interface ToolAnnotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface McpTool {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  inputSchema: JsonObject;
  outputSchema: JsonObject;
  /** What its caller's key needs; undefined: any key will do. */
  scope: Scope | undefined;
  /** Rejects with an AppError for what the caller should read, `invalid_request` for arguments that do not fit. */
  call(input: JsonObject, call: ToolCall): Promise<ToolAnswer>;
}

interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> extends Omit<McpTool, 'inputSchema' | 'outputSchema' | 'call'> {
  input: Input;
  output: Output;
  run(input: z.output<Input>, call: ToolCall): Promise<ToolAnswer>;
}

/** Declares a tool by zod schemas, which its JSON Schemas are made of when they are first asked for. */
export function defineTool<Input extends z.ZodType, Output extends z.ZodType>(definition: ToolDefinition<Input, Output>): McpTool {
  const { input, output, run, ...rest } = definition;
  let schemas: { input: JsonObject; output: JsonObject } | undefined;
  const made = () => {
    schemas ??= { input: toJsonSchema(input, 'input'), output: toJsonSchema(output, 'output') };
    return schemas;
  };
  return {
    ...rest,
    get inputSchema() {
      return made().input;
    },
    get outputSchema() {
      return made().output;
    },
    async call(value, call) {
      const parsed = input.safeParse(value);
      if (!parsed.success) throw invalidRequest(parsed.error.issues);
      return run(parsed.data, call);
    },
  };
}
