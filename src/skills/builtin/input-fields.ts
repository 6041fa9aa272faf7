import * as z from 'zod';

/** An error map for a required field: what is left out, null or empty counts as missing. */
export const missing =
  (message: string): z.core.$ZodErrorMap =>
  (issue) =>
    issue.input === undefined || issue.input === null || issue.input === '' ? message : undefined;

/** A required text that is not empty. */
export const requiredText = (message: string) => z.string({ error: missing(message) }).min(1);

interface Choice {
  /** Answers what is none of the values; the text as it came is put behind it. */
  unknown: string;
  /** Makes the field required, with this answer when it is missing. */
  required?: string;
  /** Evens out the spelling before the values are compared. */
  fold?: (text: string) => string;
}

/** One of `values`, which the model sees as an enum. */
export const choice = <Value extends string>(values: readonly Value[], { unknown, required, fold = (text) => text }: Choice) =>
  (required === undefined ? z.string() : requiredText(required)).meta({ enum: [...values] }).transform((text, context) => {
    const found = values.find((value) => value === fold(text));
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: `${unknown}: ${text}` });
    return z.NEVER;
  });
