import { Hono } from 'hono';
import type { WireFormat } from '../env.ts';
import { modelList } from '../providers/list-models.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';

/** Lists the models of a format in its shape; the format of `/v1/models` is told by the header that Anthropic's SDKs always send. */
export const models = (format: WireFormat | 'by-header'): Hono<AppEnv> =>
  new Hono<AppEnv>().get('/', requireScope('chat'), async (c) => {
    const asked = format === 'by-header' ? (c.req.header('anthropic-version') === undefined ? 'openai' : 'anthropic') : format;
    return c.json(modelList(asked, await c.var.services.listModels(asked)));
  });
