import { Hono } from 'hono';
import { anthropic } from '../providers/anthropic.ts';
import { openAiChat } from '../providers/openai-chat.ts';
import { openAiResponses } from '../providers/openai-responses.ts';
import type { Services } from '../services.ts';
import type { AppEnv } from './app-env.ts';
import { annotate, type RouteDescription } from './describe-route.ts';
import { chatCompletions, countTokens, messages, responses } from './gateway-descriptions.ts';
import { type GatewayEndpoint, gatewayHandler } from './gateway-route.ts';

/** The endpoints of OpenAI and Anthropic, where their SDKs look for them below `/v1`. */
export function chat(services: Services): Hono<AppEnv> {
  const endpoint = (description: RouteDescription, found: GatewayEndpoint) =>
    annotate(
      gatewayHandler(services, () => found, found.adapter.errorBody),
      { descriptions: [description] },
    );
  return new Hono<AppEnv>()
    .post('/chat/completions', endpoint(chatCompletions, { adapter: openAiChat, path: () => '/chat/completions' }))
    .post('/responses', endpoint(responses, { adapter: openAiResponses, path: () => '/responses' }))
    .post('/messages', endpoint(messages, { adapter: anthropic, path: () => '/v1/messages' }))
    .post(
      '/messages/count_tokens',
      endpoint(countTokens, { adapter: anthropic, path: () => '/v1/messages/count_tokens', isForwarded: true }),
    );
}
