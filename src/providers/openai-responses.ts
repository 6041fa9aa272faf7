import { asArray } from '../json.ts';
import type { ProviderAdapter } from './adapter.ts';
import { openAiChat } from './openai-chat.ts';
import { nativeApprovals } from './openai-responses-approvals.ts';
import { removeInlineResults } from './openai-responses-echo.ts';
import { historyCallIds, restoreTurns } from './openai-responses-history.ts';
import { createResponsesRelay } from './openai-responses-relay.ts';
import { composeReply, readTurn } from './openai-responses-reply.ts';
import { askForReasoning, describeRequest, releaseToolChoice } from './openai-responses-request.ts';
import { appendToolResults, suspendTurn } from './openai-responses-rounds.ts';
import { compileForOpenAi } from './openai-schema.ts';

/** OpenAI Responses and what is compatible with it. https://platform.openai.com/docs/api-reference/responses */
export const openAiResponses: ProviderAdapter = {
  format: 'openai-responses',
  hint: 'openai',
  maxTools: 128,
  keepalive: ': keepalive\n\n',
  probe: ':\n\n',
  // Without `strict: false` the API tries strict mode, which many schemas of skills do not fit.
  defineTool: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters: compileForOpenAi(parameters),
    strict: false,
  }),
  describeRequest,
  withModel: (request, model) => ({ ...request, model }),
  injectTools: (request, before, after) => askForReasoning({ ...request, tools: [...before, ...asArray(request.tools), ...after] }),
  isReply: ({ output }) => Array.isArray(output),
  readTurn,
  appendToolResults,
  releaseToolChoice,
  forbidTools: (request) => ({ ...request, tool_choice: 'none' }),
  suspendTurn,
  historyCallIds,
  restoreTurns,
  removeInlineResults,
  composeReply,
  createRelay: createResponsesRelay,
  prepareStream: (request) => request,
  errorBody: openAiChat.errorBody,
  approvals: nativeApprovals,
};
