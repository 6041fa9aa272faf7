import * as z from 'zod';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import type { JsonValue } from '../json.ts';

/** Text that every database and log can keep: no NUL, no half of a surrogate pair. */
export const plainText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Use valid Unicode without NUL characters');

/** What ids look like where callers send them; whether there is one is for the database to say. */
export const idText = plainText(200).min(1);

/** Puts the number that is meant in place of the text that a query has. */
function describeNumber(schema: Record<string, unknown>, minimum: number, maximum: number): void {
  delete schema.pattern;
  Object.assign(schema, { type: 'integer', minimum, maximum });
}

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ override: ({ jsonSchema }) => describeNumber(jsonSchema, min, max) });

/** The parameters of every list. */
export const pageQuery = {
  page: wholeNumber(1, 1_000_000).default(1).meta({ description: 'Counted from 1, which is the default' }),
  limit: wholeNumber(1, 200).default(50).meta({ description: 'Items on a page; 50 by default' }),
};

/** A moment in ISO 8601 with a zone, as UTC with milliseconds, which is how moments are stored. */
export const moment = z.iso.datetime({ offset: true, message: 'Use a time such as 2026-11-30T08:00:00Z' }).transform((text, context) => {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  context.addIssue({ code: 'custom', message: 'No such time' });
  return z.NEVER;
});

/** A value of a body, which is JSON as it was parsed from it. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined).meta({ description: 'Any JSON' });
export const jsonObject = z.record(z.string(), jsonValue);

/** How this API says what is wrong. */
export const errorBody = z
  .strictObject({
    error: z.string().meta({ description: 'For a person' }),
    code: z.enum(Object.keys(ERROR_STATUS) as ErrorCode[]).meta({ description: 'For a program' }),
    details: z
      .union([
        z
          .array(z.strictObject({ path: z.string(), message: z.string() }))
          .meta({ description: 'Each fault of what was sent, with its path, such as `scopes.0`' }),
        z
          .array(z.string())
          .meta({ description: 'The handlers that there are, the addresses that were tried, the ids of what is in the way' }),
        z.strictObject({ retryAfterSeconds: z.int() }),
      ])
      .optional(),
  })
  .meta({ id: 'Error' });

/** What an operation answers that has nothing else to say. */
export const successBody = z.strictObject({ success: z.literal(true) });

/** The schema of a list, with what an endpoint adds to it. */
export const listSchema = <Item extends z.ZodType, Further extends z.ZodRawShape = Record<never, never>>(item: Item, further?: Further) =>
  z.strictObject({
    data: z.array(item),
    total: z.int().min(0),
    page: z.int().min(1),
    limit: z.int().min(1),
    totalPages: z.int().min(0),
    ...(further as Further),
  });

/** One page of a list, as every list endpoint answers it. */
export const listBody = <Item>(data: Item[], total: number, { page, limit }: { page: number; limit: number }) => ({
  data,
  total,
  page,
  limit,
  totalPages: Math.ceil(total / limit),
});
