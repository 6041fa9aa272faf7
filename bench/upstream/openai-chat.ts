import { ANSWER, CALLED_TOOL, scenarioOfBody } from './scenario.ts';
import { createReplies, type UpstreamFormat } from './upstream-format.ts';

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

const completion = (message: object, finishReason: string) => ({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
  usage,
});

const chunk = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'bench', choices, ...more })}\n\n`;

const call = (number: number) => ({
  id: `call_bench_${number}`,
  type: 'function',
  function: { name: CALLED_TOOL, arguments: JSON.stringify({ text: `number ${number}` }) },
});

const replies = createReplies({
  plain: completion({ content: ANSWER }, 'stop'),
  opening: chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  chunk: (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]),
  ending: () => `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`,
});

/** https://platform.openai.com/docs/api-reference/chat */
export const openAiChat: UpstreamFormat = {
  path: '/v1/chat/completions',
  scenarioOf: (_, request) => scenarioOfBody(request),
  repliesTo: () => replies,
  calls: {
    hasResults: (request) => request.includes('"role":"tool"'),
    reply(count) {
      const calls = Array.from({ length: count }, (_, number) => call(number));
      return Buffer.from(JSON.stringify(completion({ content: null, tool_calls: calls }, 'tool_calls')));
    },
  },
};
