import { Hono } from 'hono';
import { a2a, agentCards } from './a2a/a2a.ts';
import { agentSkills } from './api/agent-skills.ts';
import type { AppEnv } from './api/app-env.ts';
import { approvals } from './api/approvals.ts';
import { chat } from './api/chat.ts';
import { errorResponse } from './api/error-response.ts';
import { executions } from './api/executions.ts';
import { gemini } from './api/gemini.ts';
import { handlers } from './api/handlers.ts';
import { health } from './api/health.ts';
import { keys } from './api/keys.ts';
import { skillsMpMarketplace, skillsShMarketplace } from './api/marketplaces.ts';
import { models } from './api/models.ts';
import { openApi } from './api/openapi.ts';
import { requestScope } from './api/request-scope.ts';
import { sandbox } from './api/sandbox.ts';
import { settings } from './api/settings.ts';
import { skills } from './api/skills.ts';
import { AppError } from './errors.ts';
import { mcp } from './mcp/mcp.ts';
import { GEMINI_VERSIONS } from './providers/gemini.ts';
import { openAiChat } from './providers/openai-chat.ts';
import type { Services } from './services.ts';

/** The HTTP surface. */
export function createApp(services: Services): Hono<AppEnv> {
  const rest = new Hono<AppEnv>();
  rest.use(requestScope(services));
  rest.onError((error, c) => errorResponse(error, c));
  rest.notFound((c) => {
    const error = new AppError('not_found', `No such endpoint: ${c.req.method} ${c.req.path}`);
    // Below /v1 it is an SDK that reads the error; OpenAI's shape has the most readers.
    return errorResponse(error, c, c.req.path.startsWith('/v1/') ? openAiChat.errorBody : undefined);
  });
  rest.route('/healthz', health);
  rest.route('/v1/models', models('by-client'));
  for (const version of ['v1beta', 'v1alpha']) rest.route(`/${version}/models`, models('gemini'));
  rest.route('/api/skills/executions', executions);
  rest.route('/api/skills/approvals', approvals);
  rest.route('/api/skills/marketplace', skillsMpMarketplace);
  rest.route('/api/skills/skillssh', skillsShMarketplace);
  rest.route('/api/skills', skills);
  rest.route('/api/handlers', handlers);
  rest.route('/api/settings', settings);
  rest.route('/api/keys', keys);
  rest.route('/api/sandbox', sandbox);
  rest.route('/api/agent-skills', agentSkills);
  rest.route('/mcp', mcp);
  rest.route('/a2a', a2a);
  rest.route('/.well-known', agentCards);
  rest.route(
    '/',
    openApi(() => app.routes),
  );

  // What models are asked by has an app of its own: middleware, and a router for many routes, would be a good part of what the gateway adds.
  const app = new Hono<AppEnv>();
  app.notFound((c) => rest.fetch(c.req.raw, c.env, c.executionCtx));
  app.route('/v1', chat(services));
  for (const version of GEMINI_VERSIONS) app.route(`/${version}/models`, gemini(services, version));
  // Whoever asks which routes there are gets to know all of them.
  app.routes.push(...rest.routes);
  return app;
}
