import * as z from 'zod';

/** Text that every database and log can keep: no NUL, no half of a surrogate pair. */
export const plainText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Use valid Unicode without NUL characters');

/** What ids look like where callers send them; whether there is one is for the database to say. */
export const idText = plainText(200).min(1);

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** The parameters of every list. */
export const pageQuery = {
  page: wholeNumber(1, 1_000_000).default(1),
  limit: wholeNumber(1, 200).default(50),
};

/** A moment in ISO 8601 with a zone, as UTC with milliseconds, which is how moments are stored. */
export const moment = z.iso.datetime({ offset: true, message: 'Use a time such as 2026-11-30T08:00:00Z' }).transform((text, context) => {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  context.addIssue({ code: 'custom', message: 'No such time' });
  return z.NEVER;
});

/** One page of a list, as every list endpoint answers it. */
export const listBody = <Item>(data: Item[], total: number, { page, limit }: { page: number; limit: number }) => ({
  data,
  total,
  page,
  limit,
  totalPages: Math.ceil(total / limit),
});
