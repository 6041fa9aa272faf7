import { type Context, Hono } from 'hono';
import { AppError } from '../errors.ts';
import { createGemini, type GeminiTarget, geminiPath } from '../providers/gemini.ts';
import { errorBody } from '../providers/gemini-error.ts';
import type { Services } from '../services.ts';
import type { AppEnv } from './app-env.ts';
import { annotate } from './describe-route.ts';
import { geminiActions } from './gateway-descriptions.ts';
import { type GatewayEndpoint, gatewayHandler } from './gateway-route.ts';

type Version = GeminiTarget['version'];

/** The model and the action of a path such as `/v1beta/models/gemini-3-pro:generateContent`; a model's name may hold slashes. */
function readTarget(c: Context<AppEnv>, version: Version): { model: string; action: string } {
  const target = c.req.path.slice(`/${version}/models/`.length);
  const colon = target.lastIndexOf(':');
  try {
    return { model: decodeURIComponent(target.slice(0, Math.max(0, colon))), action: target.slice(colon + 1) };
  } catch {
    throw new AppError('invalid_request', 'The path is not valid percent-encoding');
  }
}

function endpointOf(c: Context<AppEnv>, version: Version): GatewayEndpoint {
  const { model, action } = readTarget(c, version);
  const framing = c.req.query('alt') === 'sse' ? 'sse' : 'json-array';
  switch (action) {
    case 'generateContent':
    case 'countTokens':
      return {
        adapter: createGemini({ model, stream: false, framing }),
        path: (routed) => geminiPath({ version, model: routed, action }),
        isForwarded: action === 'countTokens',
      };
    case 'streamGenerateContent':
      return {
        adapter: createGemini({ model, stream: true, framing }),
        path: (routed, isForwarded) => geminiPath({ version, model: routed, action }, isForwarded ? framing : 'sse'),
      };
    default:
      throw new AppError('not_found', `No such action: ${action.slice(0, 100)}`);
  }
}

/** What Gemini does with a model in one version of its API, where its SDKs look for it. https://ai.google.dev/api/generate-content */
export function gemini(services: Services, version: Version): Hono<AppEnv> {
  return new Hono<AppEnv>().post(
    '/*',
    annotate(
      gatewayHandler(services, (c) => endpointOf(c, version), errorBody),
      { descriptions: geminiActions },
    ),
  );
}
