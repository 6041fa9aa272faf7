import { Hono } from 'hono';
import * as z from 'zod';
import { HOST_STATUSES } from '../sandbox/inspect-pools.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { describeRoute } from './describe-route.ts';

const count = z.int().min(0);
const told = count.nullable();

const hostBody = z
  .strictObject({
    url: z.string(),
    status: z.enum(HOST_STATUSES),
    hostId: z.string().nullable(),
    running: told,
    waiting: told.meta({ description: 'Runs that wait for a place' }),
    capacity: told.meta({ description: 'Runs at a time' }),
    warm: z.strictObject({ ready: count, making: count, target: count }).nullable().meta({ description: 'Containers that wait for a run' }),
    docker: z.boolean().nullable().meta({ description: 'Whether its Docker answers' }),
    missingImages: z.array(z.string()),
    answerMs: z.number().nullable(),
    seen: z
      .strictObject({
        inFlight: count,
        failures: count.meta({ description: 'Since it last worked' }),
        leftOutUntil: z.string().nullable().meta({ description: 'Until then it is asked only when no other host is there' }),
        lastFailure: z.strictObject({ at: z.string(), reason: z.string() }).nullable(),
      })
      .meta({ description: 'What the isolate that answers has seen of it; others may have seen something else' }),
  })
  .meta({ id: 'SandboxHost' });

const poolsBody = z
  .strictObject({
    pools: z.array(
      z
        .strictObject({ name: z.string(), colos: z.array(z.string()), continents: z.array(z.string()), hosts: z.array(hostBody) })
        .meta({ id: 'SandboxPool' }),
    ),
  })
  .meta({ id: 'SandboxPools' });

/** The sandbox-hosts, as they answer now. */
export const sandbox = new Hono<AppEnv>().get(
  '/pools',
  describeRoute({
    tag: 'Management',
    summary: 'The sandbox pools, with the load and the failures of each host',
    description: 'Every host is asked; one that does not answer within two seconds is `unreachable`, and what it did not tell is null.',
    answers: { 200: poolsBody },
  }),
  requireManagement,
  async (c) => {
    c.header('cache-control', 'no-store');
    return c.json({ pools: await c.var.services.sandbox.inspect() });
  },
);
