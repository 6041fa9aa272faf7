import * as z from 'zod';

export type Parsed<Data> = { success: true; data: Data } | { success: false; error: string };

/** zod's own message with the path in front. Messages given to a schema or a check come before this map, so they stand as they are. */
const describeIssue: z.core.$ZodErrorMap = (issue) => {
  const own = z.config().localeError?.(issue) ?? 'Invalid input';
  const message = typeof own === 'string' ? own : own.message;
  return issue.path === undefined || issue.path.length === 0 ? message : `${issue.path.join('.')}: ${message}`;
};

/** The value as the schema gives it, or the message of its first fault. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): Parsed<z.output<Schema>> {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return { success: true, data: result.data };
  return { success: false, error: result.error.issues[0]?.message ?? 'Invalid input' };
}
