import { Hono } from 'hono';
import { anthropic } from '../providers/anthropic.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import { openAiResponses } from '../providers/openai-responses.ts';
import type { AppEnv } from './app-env.ts';
import { gatewayRoute } from './gateway-route.ts';
import { models } from './models.ts';

/** The endpoints of OpenAI and Anthropic, where their SDKs look for them below `/v1`. */
export const chat = new Hono<AppEnv>()
  .route('/chat/completions', gatewayRoute({ adapter: openAiChat, path: () => '/chat/completions' }))
  .route('/responses', gatewayRoute({ adapter: openAiResponses, path: () => '/responses' }))
  .route('/messages', gatewayRoute({ adapter: anthropic, path: () => '/v1/messages' }))
  .route('/messages/count_tokens', gatewayRoute({ adapter: anthropic, path: () => '/v1/messages/count_tokens', isForwarded: true }))
  .route('/models', models('by-client'));
