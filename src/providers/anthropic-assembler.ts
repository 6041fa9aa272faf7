import { asText, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { blocksOf, withCallId, withCallIds } from './anthropic-blocks.ts';
import { readCallArguments } from './call-arguments.ts';

/** One block of a streamed message, folded from its events. */
export interface StreamedBlock {
  index: JsonValue | undefined;
  /** The block so far, without the input that is still to be put together. */
  block: JsonObject;
  /** Pieces of the JSON text of its input. */
  inputText: string;
  closed: boolean;
}

/** Folds the events of one streamed message into the body that a plain call would have given. */
export interface MessageAssembler {
  /** Takes an event; returns the block that it belongs to. What follows the end of the message is ignored. */
  push(event: JsonObject): StreamedBlock | undefined;
  readonly blocks: readonly StreamedBlock[];
  /** True from `message_start` on. */
  readonly begun: boolean;
  /** True from `message_stop` on. */
  readonly ended: boolean;
  response(): JsonObject;
}

/** Deltas that go on with a text, by the field that they belong to, which is called like the block. */
const TEXT_DELTAS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);
/** What a block is, which no delta changes. */
const FIXED_FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input']);

const withoutNulls = (fields: JsonObject): JsonObject => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

function foldDelta(streamed: StreamedBlock, delta: JsonObject): void {
  const { block } = streamed;
  const field = TEXT_DELTAS.get(delta.type);
  if (field !== undefined) {
    const added = delta[field];
    if (block.type === field && typeof added === 'string') streamed.block = { ...block, [field]: `${asText(block[field])}${added}` };
  } else if (delta.type === 'input_json_delta') {
    if (typeof delta.partial_json === 'string') streamed.inputText += delta.partial_json;
  } else if (delta.type === 'citations_delta') {
    const before = Array.isArray(block.citations) ? block.citations : [];
    if (delta.citation !== undefined) streamed.block = { ...block, citations: [...before, delta.citation] };
  } else {
    // A signature and the like: the delta has the whole value.
    const values = Object.entries(delta).filter(([key]) => !FIXED_FIELDS.has(key));
    streamed.block = { ...block, ...Object.fromEntries(values) };
  }
}

/** The block as a plain call would have given it. An input that cannot be read stays text, for `readCallArguments` to say where it broke. */
export function finishedBlock({ block, inputText }: StreamedBlock): JsonObject {
  if (inputText.trim() === '') return block;
  const read = readCallArguments(inputText);
  return { ...block, input: read.readable ? read.value : inputText };
}

export function createMessageAssembler(): MessageAssembler {
  let blocks: StreamedBlock[] = [];
  let envelope: JsonObject = {};
  let usage: JsonObject = {};
  let begun = false;
  let ended = false;

  /** A second start means that the provider began anew: what the first one started does not count. */
  function begin(message: JsonObject): void {
    begun = true;
    envelope = message;
    usage = isJsonObject(message.usage) ? message.usage : {};
    blocks = withCallIds(blocksOf(message), message.id).map((block, index) => ({ index, block, inputText: '', closed: true }));
  }

  function addBlock(index: JsonValue | undefined, block: JsonObject): StreamedBlock {
    const before = blocks.map((earlier) => earlier.block);
    const streamed = { index, block: withCallId(block, envelope.id, before), inputText: '', closed: false };
    blocks.push(streamed);
    return streamed;
  }

  function foldMessageDelta({ type: _, delta, usage: added, ...extra }: JsonObject): void {
    envelope = { ...envelope, ...withoutNulls(extra), ...withoutNulls(isJsonObject(delta) ? delta : {}) };
    // The counts are totals of the whole message so far.
    if (isJsonObject(added)) usage = { ...usage, ...withoutNulls(added) };
  }

  return {
    get blocks() {
      return blocks;
    },
    get begun() {
      return begun;
    },
    get ended() {
      return ended;
    },
    push(event) {
      if (ended) return undefined;
      if (event.type === 'message_start' && isJsonObject(event.message)) begin(event.message);
      if (event.type === 'message_delta') foldMessageDelta(event);
      if (event.type === 'message_stop') ended = true;
      if (event.type === 'content_block_start') {
        return isJsonObject(event.content_block) ? addBlock(event.index, event.content_block) : undefined;
      }
      const open = blocks.findLast((streamed) => streamed.index === event.index && !streamed.closed);
      if (event.type === 'content_block_delta' && open && isJsonObject(event.delta)) foldDelta(open, event.delta);
      if (event.type === 'content_block_stop' && open) open.closed = true;
      return open;
    },
    response: () => ({ ...envelope, content: blocks.map(finishedBlock), ...(Object.keys(usage).length > 0 && { usage }) }),
  };
}
