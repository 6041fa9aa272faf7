import { Hono } from 'hono';
import { anthropic } from '../providers/anthropic.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import { openAiResponses } from '../providers/openai-responses.ts';
import type { Services } from '../services.ts';
import type { AppEnv } from './app-env.ts';
import { type GatewayEndpoint, gatewayHandler } from './gateway-route.ts';

/** The endpoints of OpenAI and Anthropic, where their SDKs look for them below `/v1`. */
export function chat(services: Services): Hono<AppEnv> {
  const endpoint = (found: GatewayEndpoint) => gatewayHandler(services, () => found, found.adapter.errorBody);
  return new Hono<AppEnv>()
    .post('/chat/completions', endpoint({ adapter: openAiChat, path: () => '/chat/completions' }))
    .post('/responses', endpoint({ adapter: openAiResponses, path: () => '/responses' }))
    .post('/messages', endpoint({ adapter: anthropic, path: () => '/v1/messages' }))
    .post('/messages/count_tokens', endpoint({ adapter: anthropic, path: () => '/v1/messages/count_tokens', isForwarded: true }));
}
