import { ANSWER, scenarioOfBody } from './scenario.ts';
import { createReplies, namedEvent, type UpstreamFormat } from './upstream-format.ts';

const USAGE = { input_tokens: 1_000, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 100 };

const message = (content: object[], stopReason: string | null, outputTokens: number) => ({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  usage: { ...USAGE, output_tokens: outputTokens, service_tier: 'standard' },
});

const replies = createReplies({
  plain: message([{ type: 'text', text: ANSWER }], 'end_turn', USAGE.output_tokens),
  opening: [
    { type: 'message_start', message: message([], null, 1) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
  ]
    .map(namedEvent)
    .join(''),
  chunk: (text) => namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  ending: () =>
    [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ]
      .map(namedEvent)
      .join(''),
});

/** https://docs.anthropic.com/en/api/messages */
export const anthropic: UpstreamFormat = {
  path: '/v1/messages',
  scenarioOf: (_, request) => scenarioOfBody(request),
  repliesTo: () => replies,
};
