import * as z from 'zod';

const count = z.int().min(0);

/** What `HEALTH_PATH` answers, as far as it is read; a host may tell more. */
export const hostHealth = z.object({
  status: z.enum(['ok', 'draining']),
  hostId: z.string().max(63),
  running: count,
  waiting: count,
  capacity: count,
  /** Containers that wait for a run. */
  warm: z.object({ ready: count, making: count, target: count }),
});

/** What `READY_PATH` answers, with 503 when it is not ready. */
export const hostReadiness = z.object({
  ready: z.boolean(),
  docker: z.boolean(),
  missingImages: z.array(z.string().max(255)).max(1_000),
});

export type HostHealth = z.infer<typeof hostHealth>;
