import { Hono } from 'hono';
import { objectsOf } from '../../src/json.ts';
import { answerOpenAiError } from './openai-error.ts';
import { readTurn, writeReply } from './openai-responses.ts';
import { judgeConversation, resolveItems } from './openai-responses-conversation.ts';
import { writeEvents } from './openai-responses-events.ts';
import { OPENAI_RESPONSES_RULES } from './openai-responses-rules.ts';
import { assertModel, readRequest } from './read-request.ts';
import { createResponseMemory } from './response-memory.ts';
import { enforceRules } from './rules.ts';
import { decide } from './script.ts';
import { sendTypedEvents } from './send-events.ts';

/** OpenAI's Responses, plain and streamed. */
export function openAiResponsesRoutes({ now }: { now: () => number }): Hono {
  const memory = createResponseMemory();
  return new Hono().onError(answerOpenAiError).post('/v1/responses', async (c) => {
    const request = await readRequest(c.req.raw);
    assertModel(request.model);
    enforceRules(OPENAI_RESPONSES_RULES, request);
    const conversation = [...memory.recall(request.previous_response_id), ...resolveItems(request.input, memory)];
    judgeConversation(conversation);
    const response = writeReply(request, conversation, decide(readTurn(request, conversation)), now());
    if (request.store !== false) memory.store(String(response.id), [...conversation, ...objectsOf(response.output)]);
    return request.stream === true ? sendTypedEvents(c, writeEvents(response)) : c.json(response);
  });
}
