import { BURST_CHUNKS, CALLED_TOOL, modelOf, SCENARIOS, type UpstreamFormat } from './scenario.ts';

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

const ANSWER = 'The answer is forty-two, and here is a sentence that explains why. '.repeat(8);

const completion = (message: object, finishReason: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'bench',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
      usage,
    }),
  );

const chunk = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'bench', choices, ...more })}\n\n`;

const delta = (content: string): string => chunk([{ index: 0, delta: { content }, finish_reason: null }]);

const streamEnd = `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`;

const call = (number: number) => ({
  id: `call_bench_${number}`,
  type: 'function',
  function: { name: CALLED_TOOL, arguments: JSON.stringify({ text: `number ${number}` }) },
});

/** Where our client and every gateway put the model: among the first members of the body. */
const HEAD_BYTES = 64;
const MARKS = SCENARIOS.map((scenario) => ({ scenario, mark: `"model":"${modelOf(scenario)}"` }));

export const openAiChat: UpstreamFormat = {
  path: '/v1/chat/completions',
  scenarioOf(request) {
    const head = request.toString('latin1', 0, HEAD_BYTES);
    return MARKS.find(({ mark }) => head.includes(mark))?.scenario;
  },
  hasResults: (request) => request.includes('"role":"tool"'),
  plain: completion({ content: ANSWER }, 'stop'),
  calls: (count) => completion({ content: null, tool_calls: Array.from({ length: count }, (_, number) => call(number)) }, 'tool_calls'),
  opening: Buffer.from(chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])),
  burst: [
    ...Array.from({ length: BURST_CHUNKS }, (_, number) => Buffer.from(delta(`word ${number} of the answer `))),
    Buffer.from(streamEnd),
  ],
  pacedChunk: delta,
  streamEnd,
};
