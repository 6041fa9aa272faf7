import { resolve } from 'node:path';
import { z } from 'zod';

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'use a port number')
    .transform(Number)
    .pipe(z.int().min(1, 'use a port number').max(65_535, 'use a port number'))
    .default(fallback);

const text = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

export const DATABASE_URL_HINT = 'use libsql://, https:// or http://, and LIBSQL_AUTH_TOKEN for the token';

/** Of a database that is reached over HTTP; what gives access to it stands elsewhere. */
export const isDatabaseUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^(libsql|https?):$/.test(url.protocol) && url.host !== '' && url.username === '' && url.password === '';
};

const settings = z.object({
  PORT: port(8787),
  LIBSQL_PORT: port(8888),
  SANDBOX_PORT: port(8890),
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .transform((folder) => resolve(folder)),
  MANAGEMENT_TOKEN: text,
  LIBSQL_URL: text.refine((url) => url === undefined || isDatabaseUrl(url), DATABASE_URL_HINT),
  LIBSQL_AUTH_TOKEN: text,
  SANDBOX_POOLS: text,
  SANDBOX_SECRET: text,
  RATE_LIMIT_REQUESTS: text.pipe(
    z
      .string()
      .regex(/^[1-9]\d{0,8}$/, 'use a number of requests')
      .optional(),
  ),
});

export type Environment = Record<string, string | undefined>;
export type StackSettings = z.infer<typeof settings>;

/** Reads the variables of the stack itself. Throws an Error that names each bad one. */
export function readStackSettings(env: Environment): StackSettings {
  const parsed = settings.safeParse(env);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}
