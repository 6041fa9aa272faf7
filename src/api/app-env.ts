import type { Stopwatch } from '../gateway/stopwatch.ts';
import type { Services } from '../services.ts';
import type { Principal } from './principal.ts';

/** What the handlers of all areas find in hono's context. */
export type AppEnv = {
  Bindings: Record<string, unknown>;
  Variables: { services: Services; requestId: string; stopwatch: Stopwatch; principal: Principal; admission: Promise<void> | undefined };
};
