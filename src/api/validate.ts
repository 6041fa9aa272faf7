import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import * as z from 'zod';
import { AppError } from '../errors.ts';
import type { AppEnv } from './app-env.ts';
import { annotate } from './describe-route.ts';
import { parseJsonObject, readBytes } from './request-body.ts';

const MAX_FAULTS = 50;
/** Unknown fields are named in the message, which must not become as long as the body. */
const MAX_FAULT_CHARS = 500;

/** `invalid_request` with the first fault in its message and the path of each, 50 at most, in `details`. */
export function invalidRequest(issues: readonly { path: readonly PropertyKey[]; message: string }[]): AppError {
  const details = issues.slice(0, MAX_FAULTS).map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message.slice(0, MAX_FAULT_CHARS).toWellFormed(),
  }));
  const [first] = details;
  return new AppError('invalid_request', first ? [first.path, first.message].filter(Boolean).join(': ') : 'Invalid request', details);
}

/** The API key of a request may stand among the query's parameters. */
const withoutCredential = (query: unknown) => {
  const { key: _, ...rest } = query as Record<string, unknown>;
  return rest;
};

/** Checks the query by its schema: `c.req.valid('query')`. */
export const validateQuery = <Schema extends z.ZodType<object>>(schema: Schema) =>
  annotate(
    zValidator('query', z.preprocess(withoutCredential, schema), (result) => {
      if (!result.success) throw invalidRequest(result.error.issues);
    }),
    { query: schema },
  );

/** Reads the body, whatever its content type says, and checks it by its schema: `c.req.valid('json')`. */
export const jsonBody = <Schema extends z.ZodType<object>>(
  schema: Schema,
): MiddlewareHandler<AppEnv, string, { in: { json: z.input<Schema> }; out: { json: z.output<Schema> } }> =>
  annotate(
    async (c, next) => {
      const parsed = schema.safeParse(parseJsonObject(await readBytes(c.req.raw)));
      if (!parsed.success) throw invalidRequest(parsed.error.issues);
      c.req.addValidatedData('json', parsed.data);
      await next();
    },
    { body: schema },
  );
