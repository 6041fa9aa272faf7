import { ANSWER, scenarioOfBody } from './scenario.ts';
import { createReplies, type NamedEvent, namedEvent, type Replies, type UpstreamFormat } from './upstream-format.ts';

const USAGE = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 100,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_100,
};

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const message = (status: string, content: object[]) => ({ id: 'msg_bench', type: 'message', status, content, role: 'assistant' });

interface Request {
  instructions?: string | null;
  tools?: object[];
}

/** A response, which repeats most of what the request said, tools included. */
const responseTo = ({ instructions = null, tools = [] }: Request, status: string, output: object[]) => ({
  id: 'resp_bench',
  object: 'response',
  created_at: 1_790_000_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions,
  max_output_tokens: null,
  model: 'bench',
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools,
  top_p: 1,
  truncation: 'disabled',
  usage: status === 'completed' ? USAGE : null,
  metadata: {},
});

const ITEM = { output_index: 0 };
const PART = { item_id: 'msg_bench', ...ITEM, content_index: 0 };

/** Writes events with rising numbers. */
const numbered = (first: number, events: readonly NamedEvent[]): string =>
  events.map((event, position) => namedEvent({ ...event, sequence_number: first + position })).join('');

function createRepliesTo(request: Request): Replies {
  const created = { response: responseTo(request, 'in_progress', []) };
  const opening = [
    { type: 'response.created', ...created },
    { type: 'response.in_progress', ...created },
    { type: 'response.output_item.added', ...ITEM, item: message('in_progress', []) },
    { type: 'response.content_part.added', ...PART, part: textPart('') },
  ];
  return createReplies({
    plain: responseTo(request, 'completed', [message('completed', [textPart(ANSWER)])]),
    opening: numbered(0, opening),
    chunk(delta, number) {
      return numbered(opening.length + number, [
        { type: 'response.output_text.delta', ...PART, delta, logprobs: [], obfuscation: 'bench' },
      ]);
    },
    ending(texts) {
      const text = texts.join('');
      const item = message('completed', [textPart(text)]);
      return numbered(opening.length + texts.length, [
        { type: 'response.output_text.done', ...PART, text, logprobs: [] },
        { type: 'response.content_part.done', ...PART, part: textPart(text) },
        { type: 'response.output_item.done', ...ITEM, item },
        { type: 'response.completed', response: responseTo(request, 'completed', [item]) },
      ]);
    },
  });
}

/** By the text of the request, since what is repeated is most of it. */
const known = new Map<string, Replies>();

/** https://platform.openai.com/docs/api-reference/responses */
export const openAiResponses: UpstreamFormat = {
  path: '/v1/responses',
  scenarioOf: (_, request) => scenarioOfBody(request),
  repliesTo(request) {
    const text = request.toString('latin1');
    let replies = known.get(text);
    if (replies === undefined) {
      replies = createRepliesTo(JSON.parse(request.toString()) as Request);
      known.set(text, replies);
    }
    return replies;
  },
};
