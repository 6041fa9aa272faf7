import { Hono } from 'hono';
import type { AppEnv } from './app-env.ts';

/** Whether the gateway can do its work: 503 without the database; without a sandbox it is `degraded`. */
export const health = new Hono<AppEnv>().get('/', async (c) => {
  const { probeDatabase, sandbox: sandboxClient } = c.var.services;
  const [database, sandbox] = await Promise.all([probeDatabase(), sandboxClient.probe()]);
  const status = database === 'ok' && sandbox !== 'unavailable' ? 'ok' : 'degraded';
  return c.json({ status, database, sandbox }, database === 'ok' ? 200 : 503);
});
