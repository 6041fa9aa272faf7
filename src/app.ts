import { Hono } from 'hono';
import type { AppEnv } from './api/app-env.ts';
import { approvals } from './api/approvals.ts';
import { chat } from './api/chat.ts';
import { errorResponse } from './api/error-response.ts';
import { executions } from './api/executions.ts';
import { gemini } from './api/gemini.ts';
import { handlers } from './api/handlers.ts';
import { health } from './api/health.ts';
import { keys } from './api/keys.ts';
import { models } from './api/models.ts';
import { discardBody } from './api/request-body.ts';
import { settings } from './api/settings.ts';
import { skills } from './api/skills.ts';
import { AppError } from './errors.ts';
import { createStopwatch } from './gateway/stopwatch.ts';
import { GEMINI_VERSIONS } from './providers/gemini.ts';
import { openAiChat } from './providers/openai-chat.ts';
import type { Services } from './services.ts';

/** The HTTP surface. */
export function createApp(services: Services): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set('services', services);
    c.set('requestId', services.newId());
    c.set('stopwatch', createStopwatch(services.now));
    await next();
    await discardBody(c.req.raw).catch(() => {});
    c.res.headers.set('x-omniroute-request-id', c.get('requestId'));
  });
  app.onError((error, c) => errorResponse(error, c));
  app.notFound((c) => {
    const error = new AppError('not_found', `No such endpoint: ${c.req.method} ${c.req.path}`);
    // Below /v1 it is an SDK that reads the error; OpenAI's shape has the most readers.
    return errorResponse(error, c, c.req.path.startsWith('/v1/') ? openAiChat.errorBody : undefined);
  });

  app.route('/healthz', health);
  app.route('/v1', chat);
  for (const version of GEMINI_VERSIONS) {
    app.route(`/${version}/models`, gemini(version));
    if (version !== 'v1') app.route(`/${version}/models`, models('gemini'));
  }
  app.route('/api/skills/executions', executions);
  app.route('/api/skills/approvals', approvals);
  app.route('/api/skills', skills);
  app.route('/api/handlers', handlers);
  app.route('/api/settings', settings);
  app.route('/api/keys', keys);
  return app;
}
