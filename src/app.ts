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
import { beginRequest, finishRequest, requestScope } from './api/request-scope.ts';
import { settings } from './api/settings.ts';
import { skills } from './api/skills.ts';
import { AppError } from './errors.ts';
import { GEMINI_VERSIONS } from './providers/gemini.ts';
import { openAiChat } from './providers/openai-chat.ts';
import type { Services } from './services.ts';

/** The HTTP surface. */
export function createApp(services: Services): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.onError((error, c) => errorResponse(error, c));
  app.notFound((c) => {
    beginRequest(c, services);
    const error = new AppError('not_found', `No such endpoint: ${c.req.method} ${c.req.path}`);
    // Below /v1 it is an SDK that reads the error; OpenAI's shape has the most readers.
    return finishRequest(c, errorResponse(error, c, c.req.path.startsWith('/v1/') ? openAiChat.errorBody : undefined));
  });

  // No middleware may match what models are asked by: each layer would be a good part of what the gateway adds to a request.
  app.route('/v1', chat(services));
  for (const version of GEMINI_VERSIONS) app.route(`/${version}/models`, gemini(services, version));

  for (const path of ['/healthz', '/v1/models', '/v1beta/models', '/v1alpha/models', '/api/*']) app.use(path, requestScope(services));
  app.route('/healthz', health);
  app.route('/v1/models', models('by-client'));
  for (const version of ['v1beta', 'v1alpha']) app.route(`/${version}/models`, models('gemini'));
  app.route('/api/skills/executions', executions);
  app.route('/api/skills/approvals', approvals);
  app.route('/api/skills', skills);
  app.route('/api/handlers', handlers);
  app.route('/api/settings', settings);
  app.route('/api/keys', keys);
  return app;
}
