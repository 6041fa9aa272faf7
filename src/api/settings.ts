import { Hono } from 'hono';
import * as z from 'zod';
import { AppError } from '../errors.ts';
import { publicSettingsSchema, type Settings, settingsSchema, toPublicSettings } from '../settings.ts';
import type { AppEnv } from './app-env.ts';
import { requireManagement } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { jsonBody } from './validate.ts';

type SettingsShape = typeof settingsSchema.shape;
type ChangeShape = { [Key in keyof Settings]: z.ZodOptional<ReturnType<SettingsShape[Key]['unwrap']>> };

/** Without the defaults, which would overwrite what a change does not name. */
const changes = Object.fromEntries(Object.entries(settingsSchema.shape).map(([key, setting]) => [key, setting.unwrap().optional()]));

export const updateSettingsBody = z.strictObject(changes as ChangeShape);

const settingsBody = publicSettingsSchema.meta({ id: 'Settings' });

const describe = {
  read: describeRoute({ tag: 'Management', summary: 'The settings', answers: { 200: settingsBody } }),
  change: describeRoute({
    tag: 'Management',
    summary: 'Change settings',
    description: 'Names only what changes; answers all settings. Holds at once here, within a minute everywhere.',
    answers: { 200: settingsBody },
  }),
};

export const settings = new Hono<AppEnv>()
  .get('/', describe.read, requireManagement, async (c) => c.json(toPublicSettings(await c.var.services.settings.load())))
  .put('/', describe.change, requireManagement, jsonBody(updateSettingsBody), async (c) => {
    const body = c.req.valid('json');
    if (Object.keys(body).length === 0) throw new AppError('invalid_request', 'No update payload provided');
    return c.json(toPublicSettings(await c.var.services.settings.put(body as Partial<Settings>)));
  });
