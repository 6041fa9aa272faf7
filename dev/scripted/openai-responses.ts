import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { countReplyTokens, countTokens } from './count-tokens.ts';
import { newId } from './new-id.ts';
import type { OfferedTool, Reply, ToolResult, Turn } from './script.ts';
import { sign } from './sign.ts';
import { textOf } from './text-of.ts';
import { thoughtsBefore } from './thoughts.ts';

// OpenAI Responses: https://platform.openai.com/docs/api-reference/responses

const STEM_LENGTH = 40;

/** The items of an `input`, which may be text alone. */
export const itemsOf = (input: JsonValue | undefined): JsonObject[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOf(input);

/** A message may leave its type out. */
export const typeOf = ({ type, role }: JsonObject): JsonValue | undefined => type ?? (role === undefined ? undefined : 'message');

const readTools = (tools: JsonValue | undefined): OfferedTool[] =>
  objectsOf(tools).flatMap(({ type, name, parameters }) =>
    type === 'function' && typeof name === 'string' ? [{ name, parameters: isJsonObject(parameters) ? parameters : {} }] : [],
  );

function readToolChoice(choice: JsonValue | undefined): Turn['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice;
  return isJsonObject(choice) && typeof choice.name === 'string' ? { name: choice.name } : 'auto';
}

/** How many replies the calls came in: between two replies there are results. */
function countRounds(items: readonly JsonObject[]): number {
  const kinds = items.map(typeOf).filter((type) => type === 'function_call' || type === 'function_call_output');
  return kinds.filter((type, index) => type === 'function_call' && kinds[index - 1] !== type).length;
}

/** What the conversation, of all responses so far, looks like from where the user last spoke. */
export function readTurn(request: JsonObject, conversation: readonly JsonObject[]): Turn {
  const start = conversation.findLastIndex((item) => typeOf(item) === 'message' && item.role === 'user');
  const since = conversation.slice(start + 1);
  const nameOf = (callId: JsonValue | undefined): string =>
    String(since.find((item) => item.type === 'function_call' && item.call_id === callId)?.name ?? 'a tool');
  return {
    userText: textOf(conversation[start]?.content),
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.tool_choice),
    results: since
      .filter(({ type }) => type === 'function_call_output')
      .map((item): ToolResult => ({ name: nameOf(item.call_id), text: textOf(item.output) })),
    rounds: countRounds(since),
  };
}

/** The seal of a reasoning item, for requests that are not stored. */
export const encryptReasoning = (id: string): string => sign('reasoning', id);

/**
 * What an item's id says of the reasoning that it came with: the id of the item that has to be directly before it. Undefined for what
 * came without any.
 */
export function reasoningIdOf(id: string): string | undefined {
  const stem = new RegExp(`^(?:fc|msg)_(\\w{${STEM_LENGTH}})r\\d+$`).exec(id)?.[1];
  return stem === undefined ? undefined : `rs_${stem}`;
}

/** The items of a reply. With reasoning, when the request asks for it, in front. */
export function writeItems(request: JsonObject, reply: Reply, resultCount: number): JsonObject[] {
  const reasons = isJsonObject(request.reasoning);
  const stem = newId('', STEM_LENGTH);
  let count = 0;
  const nextId = (prefix: string): string => `${prefix}_${stem}${reasons ? 'r' : 'i'}${count++}`;
  const items: JsonObject[] = [];
  if (isJsonObject(request.reasoning)) {
    const summary = request.reasoning.summary ? [{ type: 'summary_text', text: thoughtsBefore(reply, resultCount) }] : [];
    const isSealed = Array.isArray(request.include) && request.include.includes('reasoning.encrypted_content');
    const id = `rs_${stem}`;
    items.push({ id, type: 'reasoning', summary, ...(isSealed && { encrypted_content: encryptReasoning(id) }) });
  }
  if (reply.text !== '') {
    const content = [{ type: 'output_text', annotations: [], logprobs: [], text: reply.text }];
    const phase = reply.calls.length > 0 ? 'commentary' : 'final_answer';
    items.push({ id: nextId('msg'), type: 'message', status: 'completed', role: 'assistant', phase, content });
  }
  for (const { name, arguments: text } of reply.calls) {
    items.push({ id: nextId('fc'), type: 'function_call', status: 'completed', call_id: newId('call_', 24), name, arguments: text });
  }
  return items;
}

function countUsage(request: JsonObject, conversation: readonly JsonObject[], reply: Reply, output: readonly JsonObject[]): JsonObject {
  const input = countTokens([request.instructions ?? '', [...conversation], request.tools ?? []]);
  const reasoning = output.filter(({ type }) => type === 'reasoning').reduce((sum, item) => sum + countTokens(item), 0);
  const written = countReplyTokens(reply) + reasoning;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + written,
  };
}

/** The body of a plain answer. `now` is in milliseconds. */
export function writeReply(request: JsonObject, conversation: readonly JsonObject[], reply: Reply, now: number): JsonObject {
  const { model = '', tools = [], reasoning, ...asked } = request;
  const output = writeItems(request, reply, readTurn(request, conversation).results.length);
  return {
    id: newId('resp_', 48),
    object: 'response',
    created_at: Math.floor(now / 1_000),
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    metadata: asked.metadata ?? {},
    model,
    output,
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    previous_response_id: asked.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...(isJsonObject(reasoning) && reasoning) },
    service_tier: 'default',
    store: asked.store ?? true,
    temperature: asked.temperature ?? 1,
    text: asked.text ?? { format: { type: 'text' } },
    tool_choice: asked.tool_choice ?? 'auto',
    tools,
    top_p: asked.top_p ?? 1,
    truncation: asked.truncation ?? 'disabled',
    usage: countUsage(request, conversation, reply, output),
  };
}
