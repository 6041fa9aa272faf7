import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { readTurn, writeChunks, writeReply } from './openai-chat.ts';
import { OPENAI_CHAT_RULES } from './openai-chat-rules.ts';
import { answerOpenAiError } from './openai-error.ts';
import { assertModel, readRequest } from './read-request.ts';
import { enforceRules } from './rules.ts';
import { decide } from './script.ts';

/** OpenAI's Chat Completions, plain and streamed. */
export const openAiChatRoutes = ({ now }: { now: () => number }): Hono =>
  new Hono().onError(answerOpenAiError).post('/v1/chat/completions', async (c) => {
    const request = await readRequest(c.req.raw);
    assertModel(request.model);
    enforceRules(OPENAI_CHAT_RULES, request);
    const reply = decide(readTurn(request));
    if (request.stream !== true) return c.json(writeReply(request, reply, now()));
    return streamSSE(c, async (stream) => {
      for (const chunk of writeChunks(request, reply, now())) await stream.writeSSE({ data: JSON.stringify(chunk) });
      await stream.writeSSE({ data: '[DONE]' });
    });
  });
