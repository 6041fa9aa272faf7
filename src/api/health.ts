import { Hono } from 'hono';
import * as z from 'zod';
import { SANDBOX_STATUSES } from '../sandbox/client.ts';
import type { AppEnv } from './app-env.ts';
import { describeRoute } from './describe-route.ts';

const healthBody = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    database: z.enum(['ok', 'unavailable']),
    sandbox: z.enum(SANDBOX_STATUSES),
  })
  .meta({ id: 'Health' });

/** Whether the gateway can do its work: 503 without the database; without a sandbox it is `degraded`. */
export const health = new Hono<AppEnv>().get(
  '/',
  describeRoute({
    tag: 'Service',
    summary: 'How the gateway is',
    answers: {
      200: healthBody,
      503: { description: 'The database cannot be used', content: { 'application/json': healthBody } },
    },
  }),
  async (c) => {
    const { probeDatabase, sandbox: sandboxClient } = c.var.services;
    const [database, sandbox] = await Promise.all([probeDatabase(), sandboxClient.probe()]);
    const status = database === 'ok' && sandbox !== 'unavailable' ? 'ok' : 'degraded';
    return c.json({ status, database, sandbox }, database === 'ok' ? 200 : 503);
  },
);
