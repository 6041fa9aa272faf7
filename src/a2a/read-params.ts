import * as z from 'zod';
import type { JsonValue } from '../json.ts';
import { A2AError } from './a2a-error.ts';
import { MAX_ID_CHARS } from './json-rpc.ts';

/** Longest message as JSON; the skills take far less. */
export const MAX_MESSAGE_CHARS = 64 * 1024;
const MAX_PARTS = 32;

export const identifier = z
  .string()
  .min(1)
  .max(MAX_ID_CHARS)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Use well-formed text without NUL');
/** In Protobuf JSON an empty text is the same as none. */
export const optionalIdentifier = z.preprocess((value) => (value === '' || value === null ? undefined : value), identifier.optional());
export const historyLength = z.int().min(0).optional();
const metadata = z
  .looseObject({ skill: z.string().max(MAX_ID_CHARS).optional(), skillId: z.string().max(MAX_ID_CHARS).optional() })
  .nullish();

/** The parameters of a message to the agent; each revision has its own parts, its name for the user's role and configuration. */
export const sendParamsOf = <Part extends z.ZodType, Configuration extends z.ZodRawShape>(
  part: Part,
  userRole: string,
  configuration: Configuration,
) =>
  z.looseObject({
    message: z.looseObject({
      messageId: identifier,
      role: z.literal(userRole),
      parts: z.array(part).min(1).max(MAX_PARTS),
      taskId: optionalIdentifier,
      contextId: optionalIdentifier,
      metadata,
    }),
    configuration: z.looseObject({ historyLength, acceptedOutputModes: z.array(z.string()).nullish(), ...configuration }).nullish(),
    metadata,
  });

type Metadata = z.output<typeof metadata>;

/** The agent's skill that the metadata of a message, else those of its request, name. */
export const skillNamedIn = (message: Metadata, request: Metadata): string | undefined =>
  message?.skill ?? message?.skillId ?? request?.skill ?? request?.skillId;

const taskParams = z.looseObject({ id: identifier, historyLength });

/** Checks the parameters of a method. Throws an A2AError that names the first fault. */
export function readParams<Schema extends z.ZodType>(schema: Schema, params: JsonValue | undefined): z.output<Schema> {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['params', ...(issue?.path ?? [])].map(String).join('.');
  throw new A2AError('INVALID_PARAMS', `${path}: ${issue?.message ?? 'Invalid'}`);
}

/** The task that a method is about. */
export function readTaskId(params: JsonValue | undefined): { id: string; historyLength: number | undefined } {
  const { id, historyLength } = readParams(taskParams, params);
  return { id, historyLength };
}

export function requireSmallMessage(params: unknown): void {
  if (JSON.stringify(params ?? null).length > MAX_MESSAGE_CHARS)
    throw new A2AError('INVALID_PARAMS', `params: The message exceeds the limit of ${MAX_MESSAGE_CHARS} characters`);
}

export const refuseFiles = (): never => {
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'This agent takes text and data, no files');
};

/** Throws when none of the media types that a client accepts is one that the agent writes. */
export function requireOutputMode(accepted: readonly string[] | null | undefined): void {
  if (!accepted || accepted.length === 0) return;
  const writes = accepted.some((type) => ['text/plain', 'application/json', 'text', '*/*', 'text/*', 'application/*'].includes(type));
  if (!writes) throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'This agent answers with text/plain and application/json');
}

export function refusePushConfig(config: unknown): void {
  if (config !== undefined && config !== null)
    throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported');
}
