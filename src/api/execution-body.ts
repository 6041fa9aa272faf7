import * as z from 'zod';
import { EXECUTION_STATUSES, type Execution } from '../execution/execution.ts';
import type { ListedExecution } from '../execution/execution-store.ts';
import { jsonValue } from './schemas.ts';

/** What callers see of an execution: not where it ran, nor its lease. */
export const toExecutionBody = ({ sandboxId: _, leaseExpiresAt: __, ...execution }: Execution) => execution;

/** An execution as the API answers it. */
export const executionBody = z
  .strictObject({
    id: z.string(),
    skillId: z.string().nullable().meta({ description: 'Null once the skill has been deleted' }),
    skillName: z.string(),
    skillVersion: z.string(),
    apiKeyId: z.string(),
    sessionId: z.string().nullable(),
    requestId: z.string(),
    callId: z.string(),
    input: jsonValue,
    output: jsonValue.nullable(),
    status: z.enum(EXECUTION_STATUSES),
    errorMessage: z.string().nullable(),
    durationMs: z.number().nullable(),
    attempts: z.int(),
    createdAt: z.string(),
    startedAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
  } satisfies Record<keyof ReturnType<typeof toExecutionBody>, z.ZodType>)
  .meta({ id: 'Execution' });

/** Longest input and output in a list, as JSON: a page of them has to fit an isolate's memory. */
export const MAX_LISTED_VALUE_BYTES = 16_384;

export const toListedBody = ({ omitted, ...execution }: ListedExecution) => ({
  ...toExecutionBody(execution),
  ...(omitted.length > 0 && { omitted }),
});

/** An execution as a list answers it. */
export const listedExecutionBody = executionBody
  .extend({
    input: jsonValue.nullable(),
    omitted: z
      .array(z.enum(['input', 'output']))
      .optional()
      .meta({
        description: `What is longer than ${MAX_LISTED_VALUE_BYTES / 1024} KiB of JSON and null here for that; GET /api/skills/executions/:id answers it`,
      }),
  })
  .meta({ id: 'ListedExecution' });
