import { type Context, Hono } from 'hono';
import { AppError } from '../errors.ts';
import { createGemini, geminiPath } from '../providers/gemini.ts';
import { errorBody } from '../providers/gemini-error.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { errorResponse } from './error-response.ts';
import { answerByGateway, type GatewayEndpoint } from './gateway-route.ts';
import { models } from './models.ts';

const MODELS_PATH = '/v1beta/models';

/** The model and the action of a path such as `/v1beta/models/gemini-3-pro:generateContent`; a model's name may hold slashes. */
function readTarget(c: Context<AppEnv>): { model: string; action: string } {
  const target = c.req.path.slice(MODELS_PATH.length + 1);
  const colon = target.lastIndexOf(':');
  try {
    return { model: decodeURIComponent(target.slice(0, Math.max(0, colon))), action: target.slice(colon + 1) };
  } catch {
    throw new AppError('invalid_request', 'The path is not valid percent-encoding');
  }
}

function endpointOf(c: Context<AppEnv>): GatewayEndpoint {
  const { model, action } = readTarget(c);
  const framing = c.req.query('alt') === 'sse' ? 'sse' : 'json-array';
  switch (action) {
    case 'generateContent':
      return { adapter: createGemini({ model, stream: false, framing }), path: (routed) => geminiPath(routed, false) };
    case 'streamGenerateContent': {
      const adapter = createGemini({ model, stream: true, framing });
      return { adapter, path: (routed, isForwarded) => geminiPath(routed, true, isForwarded ? framing : 'sse') };
    }
    case 'countTokens':
      return {
        adapter: createGemini({ model, stream: false, framing }),
        path: (routed) => geminiPath(routed, false).replace(/:generateContent$/, ':countTokens'),
        isForwarded: true,
      };
    default:
      throw new AppError('not_found', `No such action: ${action.slice(0, 100)}`);
  }
}

/** The endpoints of Gemini, where its SDKs look for them. https://ai.google.dev/api/generate-content */
export const gemini = new Hono<AppEnv>()
  .route('/', models('gemini'))
  .post('/*', requireScope('chat'), (c) => answerByGateway(c, endpointOf(c)));
gemini.onError((error, c) => errorResponse(error, c, errorBody));
