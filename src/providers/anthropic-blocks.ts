import { asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { CallVisibility, ToolResult } from './adapter.ts';
import { isThinking, markThinking } from './anthropic-thinking.ts';
import { readCallArguments } from './call-arguments.ts';

/** The blocks of a message or a reply; content that is text counts as one block. */
export const blocksOf = ({ content }: JsonObject): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);

/** A call of a tool that runs outside of the provider. */
export const isCall = (block: JsonObject): boolean => block.type === 'tool_use';

export const nameOf = (named: JsonObject): string => (typeof named.name === 'string' ? named.name : '');

/** Text that says nothing. The provider sends such blocks, and refuses them when they come back. */
export const isEmptyText = (block: JsonObject): boolean => block.type === 'text' && typeof block.text === 'string' && block.text === '';

/** A block of a reply, behind those `before` it. A call always has an id of its own; emulators leave it out or repeat it. */
export function withCallId(block: JsonObject, messageId: JsonValue | undefined, before: readonly JsonObject[]): JsonObject {
  if (!isCall(block)) return block;
  const isGiven = typeof block.id === 'string' && block.id !== '';
  const isRepeated = before.some((earlier) => isCall(earlier) && earlier.id === block.id);
  if (isGiven && !isRepeated) return block;
  const base = isGiven ? asText(block.id) : `toolu_${asText(messageId).replace(/[^a-zA-Z0-9_-]/g, '_')}`;
  return { ...block, id: `${base}_${before.length}` };
}

/** The blocks of a reply, each call with an id of its own. */
export function withCallIds(blocks: readonly JsonObject[], messageId: JsonValue | undefined): JsonObject[] {
  const named: JsonObject[] = [];
  for (const block of blocks) named.push(withCallId(block, messageId, named));
  return named;
}

/** The reply with an id of its own for every call. */
export const normalizeResponse = (response: JsonObject): JsonObject => ({
  ...response,
  content: withCallIds(blocksOf(response), response.id),
});

const saysSomething = (block: JsonObject): boolean => block.type !== 'text' || typeof block.text !== 'string' || block.text.trim() !== '';

/** An input that is no object, as half a JSON text, goes back inside of one, which is all that the provider takes. */
function withObjectInput(block: JsonObject): JsonObject {
  if (!('input' in block) || isJsonObject(block.input)) return block;
  const read = readCallArguments(block.input);
  const text = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
  return { ...block, input: read.readable ? read.value : { INVALID_JSON: text } };
}

/** The reply as a message of the next request: unmodified, but for what the provider does not take back. None when nothing is left. */
export function assistantMessages(response: JsonObject): JsonObject[] {
  const content = blocksOf(normalizeResponse(response)).filter(saysSomething).map(withObjectInput);
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

export const resultBlock = ({ callId, content, failed }: ToolResult): JsonObject => ({
  type: 'tool_result',
  tool_use_id: callId,
  content,
  ...(failed && { is_error: true }),
});

/** How the blocks of all rounds look to the client, one after the other. */
export interface BlockView {
  /** The block for the client; undefined when it is hidden. */
  show(block: JsonObject): JsonObject | undefined;
  /** True once a hidden call has been seen. */
  readonly afterHidden: boolean;
  /** True when what stands before thinking is not what the provider knows to stand there. */
  readonly marksThinking: boolean;
}

/** `before`: what the client has or has not seen so far, as `afterRemains` of a message that was given up. */
export function createBlockView(
  { isHidden, clientCallId }: CallVisibility,
  before: { afterHidden: boolean; afterRemains: boolean } = { afterHidden: false, afterRemains: false },
): BlockView {
  let { afterHidden } = before;
  const marksThinking = () => afterHidden || before.afterRemains;
  return {
    get afterHidden() {
      return afterHidden;
    },
    get marksThinking() {
      return marksThinking();
    },
    show(block) {
      if (isCall(block) && isHidden(nameOf(block))) {
        afterHidden = true;
        return undefined;
      }
      if (isCall(block)) return { ...block, id: clientCallId(String(block.id), afterHidden) };
      return marksThinking() && isThinking(block) ? markThinking(block) : block;
    },
  };
}
