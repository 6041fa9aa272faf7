import * as z from 'zod';

/**
 * An array whose length is checked before its items: each wrong item of an array is a fault of its own, many times as large as the item, so
 * that a body of a few megabytes could fill the memory of an isolate.
 */
export const boundedArray = <Item extends z.ZodType>(item: Item, maxItems: number) =>
  z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= maxItems) return value;
    context.addIssue({ code: 'too_big', origin: 'array', maximum: maxItems, inclusive: true, input: value });
    return z.NEVER;
  }, z.array(item).max(maxItems));
