import * as z from 'zod';
import { EXECUTION_STATUSES, type Execution } from '../execution/execution.ts';
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
