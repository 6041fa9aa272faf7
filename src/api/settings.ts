import { Hono } from 'hono';
import * as z from 'zod';
import { AppError } from '../errors.ts';
import { type Settings, settingsSchema } from '../settings.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { jsonBody } from './validate.ts';

type SettingsShape = typeof settingsSchema.shape;
type ChangeShape = { [Key in keyof Settings]: z.ZodOptional<ReturnType<SettingsShape[Key]['unwrap']>> };

/** Without the defaults, which would overwrite what a change does not name. */
const changes = Object.fromEntries(Object.entries(settingsSchema.shape).map(([key, setting]) => [key, setting.unwrap().optional()]));

export const updateSettingsBody = z.strictObject(changes as ChangeShape);

export const settings = new Hono<AppEnv>()
  .get('/', requireManagement, async (c) => c.json(await c.var.services.settings.load()))
  .put('/', requireManagement, jsonBody(updateSettingsBody), async (c) => {
    const body = c.req.valid('json');
    if (Object.keys(body).length === 0) throw new AppError('invalid_request', 'No update payload provided');
    return c.json(await c.var.services.settings.put(body as Partial<Settings>));
  });
