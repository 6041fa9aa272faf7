import { z } from 'zod';

const cloudflare = z.object({ colo: z.string().optional().catch(undefined), continent: z.string().optional().catch(undefined) });

/** Where a request came in, as Cloudflare tells in `request.cf`; nothing elsewhere. */
export const locationOf = (request: Request): z.infer<typeof cloudflare> =>
  cloudflare.safeParse((request as { cf?: unknown }).cf).data ?? {};
