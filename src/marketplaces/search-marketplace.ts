import * as z from 'zod';
import { AppError } from '../errors.ts';
import { askMarketplace, type MarketplaceRequest } from './ask-marketplace.ts';

/** Nothing of what a marketplace sent is repeated in the message. */
const notUnderstood = (title: string) => new AppError('marketplace_invalid', `${title} sent an answer that cannot be understood`);

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)) as unknown;
}

/** Asks for JSON of this shape. Rejects as `askMarketplace` does, and with `marketplace_invalid` for anything else. */
export async function searchMarketplace<Schema extends z.ZodType>(
  fetch: typeof globalThis.fetch,
  schema: Schema,
  request: MarketplaceRequest,
): Promise<z.output<Schema>> {
  const { title } = request;
  const answer = await askMarketplace(fetch, request);
  if (answer === undefined) throw new AppError('marketplace_failed', `${title} answered 404`);
  if (answer.truncated) throw new AppError('marketplace_invalid', `${title} sent an answer of more than ${answer.bytes.length} bytes`);
  try {
    return schema.parse(parseJson(answer.bytes));
  } catch {
    throw notUnderstood(title);
  }
}

/** A list of which those items are kept that have the shape. One odd skill hides no others, but a list of nothing else is none. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(z.unknown()).transform((values, context): z.output<Item>[] => {
    const items = values.flatMap((value) => {
      const { success, data } = item.safeParse(value);
      return success ? [data] : [];
    });
    if (items.length > 0 || values.length === 0) return items;
    context.addIssue({ code: 'custom', message: 'No item has the expected shape' });
    return z.NEVER;
  });

/** Text that may be missing. */
export const optionalText = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** Stars or installs, as a whole number that may be missing. */
export const optionalCount = z
  .number()
  .min(0)
  .nullish()
  .catch(null)
  .transform((count) => (count == null ? null : Math.min(Math.floor(count), MAX_COUNT)));

/** Beyond any marketplace's; keeps what is stored a small integer. */
export const MAX_COUNT = 1_000_000_000;
