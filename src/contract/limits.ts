import * as z from 'zod';

/** A switch: `1` or `true` turn it on, `0`, `false` and nothing off. */
export const flag = z.enum(['1', 'true', '0', 'false', '']).transform((value) => value === '1' || value === 'true');
const count = (fallback: number, min: number, max: number) =>
  z.string().regex(/^\d+$/, 'Use a whole number').transform(Number).pipe(z.int().min(min).max(max)).default(fallback);

/** The `SKILLS_*` environment variables, read by the worker and by the sandbox-host. */
export const skillsEnvironment = z.object({
  SKILLS_MAX_FILE_BYTES: count(1_048_576, 1, 16_777_216),
  SKILLS_MAX_HTTP_RESPONSE_BYTES: count(256_000, 1, 16_777_216),
  SKILLS_MAX_SANDBOX_OUTPUT_CHARS: count(100_000, 1, 10_000_000),
  SKILLS_SANDBOX_TIMEOUT_MS: count(10_000, 1, 60_000),
  SKILLS_SANDBOX_NETWORK_ENABLED: flag.default(false),
  SKILLS_ALLOWED_SANDBOX_IMAGES: z.string().default(''),
});
