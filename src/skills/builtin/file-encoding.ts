import * as z from 'zod';

/** How a file's content is written in JSON. */
export const fileEncoding = z
  .enum(['utf8', 'base64'], { error: 'Unsupported encoding. Use utf8 or base64.' })
  .default('utf8')
  .describe('utf8 for text, base64 for binary content.');
