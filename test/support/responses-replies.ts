import { type JsonObject, objectsOf } from '../../src/json.ts';
import { sendJson, sendNamedEvents, type UpstreamHandler } from './mock-upstream.ts';

export interface ScriptedResponse {
  output: JsonObject[];
  id?: string;
  /** Further fields of the response, as `status` and `incomplete_details`. */
  fields?: JsonObject;
}

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 15,
};

export const message = (words: string, id = 'msg_mock'): JsonObject => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: words, annotations: [], logprobs: [] }],
});

export const refusal = (words: string): JsonObject => ({ ...message(''), content: [{ type: 'refusal', refusal: words }] });

export const functionCall = (callId: string, name: string, argumentText: string, fields: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${callId}`,
  call_id: callId,
  name,
  arguments: argumentText,
  status: 'completed',
  ...fields,
});

export const reasoning = (id: string, encrypted?: string): JsonObject => ({
  type: 'reasoning',
  id,
  summary: [],
  ...(encrypted !== undefined && { encrypted_content: encrypted }),
});

/** The response as the API repeats it, with what the request said. */
const bodyOf = ({ output, id = 'resp_mock', fields }: ScriptedResponse, request: JsonObject): JsonObject => ({
  id,
  object: 'response',
  created_at: 1_790_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: request.instructions ?? null,
  model: 'gpt-mock',
  output,
  parallel_tool_calls: true,
  previous_response_id: request.previous_response_id ?? null,
  store: request.store ?? true,
  tool_choice: request.tool_choice ?? 'auto',
  tools: request.tools ?? [],
  usage: USAGE,
  ...fields,
});

const pieces = (whole: string): string[] => whole.match(/.{1,4}/gs) ?? [];

function partEvents(part: JsonObject, place: JsonObject): JsonObject[] {
  const [field, kind] = part.type === 'refusal' ? ['refusal', 'response.refusal'] : ['text', 'response.output_text'];
  const whole = String(part[field]);
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, [field]: '' } },
    ...pieces(whole).map((delta) => ({ type: `${kind}.delta`, ...place, delta, ...(field === 'text' && { logprobs: [] }) })),
    { type: `${kind}.done`, ...place, [field]: whole, ...(field === 'text' && { logprobs: [] }) },
    { type: 'response.content_part.done', ...place, part },
  ];
}

/** The events of one item as the API streams it. */
export function itemEvents(item: JsonObject, index: number): JsonObject[] {
  const place = { item_id: item.id ?? null, output_index: index };
  const frame = (begun: JsonObject, between: JsonObject[]): JsonObject[] => [
    { type: 'response.output_item.added', output_index: index, item: begun },
    ...between,
    { type: 'response.output_item.done', output_index: index, item },
  ];
  switch (item.type) {
    case 'message':
      return frame(
        { ...item, status: 'in_progress', content: [] },
        objectsOf(item.content).flatMap((part, contentIndex) => partEvents(part, { ...place, content_index: contentIndex })),
      );
    case 'function_call':
      return frame({ ...item, status: 'in_progress', arguments: '' }, [
        ...pieces(String(item.arguments)).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
        { type: 'response.function_call_arguments.done', ...place, name: item.name ?? '', arguments: item.arguments ?? '' },
      ]);
    case 'reasoning': {
      // What is encrypted is complete only when the item is done.
      const { encrypted_content: _, ...begun } = item;
      return frame(begun, []);
    }
    default:
      return frame(item, []);
  }
}

const numbered = (events: readonly JsonObject[]): JsonObject[] =>
  events.map((event, position) => ({ ...event, sequence_number: position }));

export const responseStart = (reply: ScriptedResponse, request: JsonObject): JsonObject => ({
  type: 'response.created',
  response: { ...bodyOf(reply, request), status: 'in_progress', output: [], usage: null },
});

/** The events of a response as the API streams it. */
export function responseEvents(reply: ScriptedResponse, request: JsonObject): JsonObject[] {
  const body = bodyOf(reply, request);
  const created = responseStart(reply, request);
  return numbered([
    created,
    { ...created, type: 'response.in_progress' },
    ...reply.output.flatMap(itemEvents),
    { type: `response.${String(body.status)}`, response: body },
  ]);
}

/** Plain or streamed, as it is asked for. */
export const responseReply =
  (reply: ScriptedResponse): UpstreamHandler =>
  (request, response, closed) =>
    (request.body.stream === true ? sendNamedEvents(...responseEvents(reply, request.body)) : sendJson(bodyOf(reply, request.body)))(
      request,
      response,
      closed,
    );
