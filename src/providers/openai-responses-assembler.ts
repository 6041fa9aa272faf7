import { AppError } from '../errors.ts';
import { asArray, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import { normalizeItem } from './openai-responses-items.ts';

/** One item of a streamed reply, folded from its events. */
export interface StreamedItem {
  item: JsonObject;
  /** True once the provider has sent the whole item. */
  done: boolean;
}

/** Folds the events of one streamed response into the body that a plain call would have given. */
export interface ResponsesAssembler {
  /** Takes an event; returns the item that it tells of, or undefined when it tells of none. */
  push(event: JsonObject): StreamedItem | undefined;
  /** The response as far as it is known, without its items. */
  readonly envelope: JsonObject;
  /** True once the provider has ended the response. */
  readonly ended: boolean;
  /** The items so far; once ended also those that came with the end alone. */
  readonly items: readonly StreamedItem[];
  response(): JsonObject;
}

/** Where the text of a kind of event goes: into a field of the item, or of a part in one of its lists. */
interface TextField {
  itemType: string;
  list?: 'content' | 'summary';
  partType?: string;
  field: string;
}

const TEXT_FIELDS: ReadonlyMap<string, TextField> = new Map([
  ['response.output_text', { itemType: 'message', list: 'content', partType: 'output_text', field: 'text' }],
  ['response.refusal', { itemType: 'message', list: 'content', partType: 'refusal', field: 'refusal' }],
  ['response.content_part', { itemType: 'message', list: 'content', field: 'part' }],
  ['response.reasoning_text', { itemType: 'reasoning', list: 'content', partType: 'reasoning_text', field: 'text' }],
  ['response.reasoning_summary_text', { itemType: 'reasoning', list: 'summary', partType: 'summary_text', field: 'text' }],
  ['response.reasoning_summary_part', { itemType: 'reasoning', list: 'summary', field: 'part' }],
  ['response.function_call_arguments', { itemType: 'function_call', field: 'arguments' }],
  ['response.mcp_call_arguments', { itemType: 'mcp_call', field: 'arguments' }],
  ['response.custom_tool_call_input', { itemType: 'custom_tool_call', field: 'input' }],
  ['response.code_interpreter_call_code', { itemType: 'code_interpreter_call', field: 'code' }],
]);

/** What is known of an item whose beginning was left out. */
function skeletonOf(itemType: string | undefined, id: JsonValue | undefined): JsonObject {
  const item: JsonObject = { ...(itemType && { type: itemType }), ...(typeof id === 'string' && { id }) };
  if (itemType === 'message') return { ...item, role: 'assistant', status: 'in_progress', content: [] };
  return itemType === 'reasoning' ? { ...item, summary: [] } : item;
}

/** The part of a list that an event tells of; one that is not there yet is put at the end. */
function partOf(item: JsonObject, list: 'content' | 'summary', event: JsonObject, partType: string | undefined): JsonObject {
  const parts = asArray(item[list]);
  item[list] = parts;
  const index = event[list === 'content' ? 'content_index' : 'summary_index'];
  const position = typeof index === 'number' && Number.isInteger(index) && index >= 0 ? Math.min(index, parts.length) : 0;
  const found = parts[position];
  const part = isJsonObject(found) ? found : { ...(partType && { type: partType }) };
  parts[position] = part;
  return part;
}

function foldText(item: JsonObject, { list, partType, field }: TextField, step: string, event: JsonObject): void {
  if (field === 'part') {
    if (list && isJsonObject(event.part)) Object.assign(partOf(item, list, event, undefined), event.part);
    return;
  }
  const holder = list ? partOf(item, list, event, partType) : item;
  const before = holder[field];
  if (step === 'delta' && typeof event.delta === 'string') holder[field] = (typeof before === 'string' ? before : '') + event.delta;
  if (step === 'done' && typeof event[field] === 'string') holder[field] = event[field];
}

const END_TYPES: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export function createResponsesAssembler(): ResponsesAssembler {
  const items: StreamedItem[] = [];
  const byIndex = new Map<JsonValue, StreamedItem>();
  const byId = new Map<JsonValue, StreamedItem>();
  let envelope: JsonObject = {};
  let ended = false;

  const open = (event: JsonObject, item: JsonObject): StreamedItem => {
    const streamed = { item, done: false };
    items.push(streamed);
    if (typeof event.output_index === 'number') byIndex.set(event.output_index, streamed);
    return streamed;
  };

  /** Ids change between the events of some providers, and others leave the index out, so that the index decides where it is there. */
  function find(event: JsonObject, id: JsonValue | undefined): StreamedItem | undefined {
    if (typeof event.output_index === 'number') return byIndex.get(event.output_index);
    return typeof id === 'string' ? byId.get(id) : undefined;
  }

  function pushItem(event: JsonObject, item: JsonObject): StreamedItem {
    const found = find(event, item.id);
    const begins = event.type === 'response.output_item.added';
    const streamed = found === undefined || (begins && found.done) ? open(event, structuredClone(item)) : found;
    if (!begins) {
      streamed.item = item;
      streamed.done = true;
    }
    return streamed;
  }

  function pushText(event: JsonObject): StreamedItem | undefined {
    const type = String(event.type);
    const dot = type.lastIndexOf('.');
    const field = TEXT_FIELDS.get(type.slice(0, dot));
    const streamed =
      find(event, event.item_id) ??
      (typeof event.output_index === 'number' || field ? open(event, skeletonOf(field?.itemType, event.item_id)) : undefined);
    if (streamed && field && !streamed.done) foldText(streamed.item, field, type.slice(dot + 1), event);
    return streamed;
  }

  function end(event: JsonObject): void {
    if (!isJsonObject(event.response) || !Array.isArray(event.response.output ?? [])) {
      throw new AppError('upstream_invalid', 'The model provider ended its stream with what is no response');
    }
    ended = true;
    const status = String(event.type).slice('response.'.length);
    const { output, ...rest } = event.response;
    envelope = { ...envelope, ...rest, status: typeof rest.status === 'string' ? rest.status : status };
    for (const [position, item] of objectsOf(output).entries()) {
      const streamed = items[position];
      if (streamed === undefined) items.push({ item, done: false });
      else if (!streamed.done && (streamed.item.type ?? item.type) === item.type) streamed.item = item;
    }
  }

  return {
    items,
    get envelope() {
      return envelope;
    },
    get ended() {
      return ended;
    },
    push(event) {
      if (ended) return undefined;
      if (END_TYPES.has(event.type)) {
        end(event);
        return undefined;
      }
      if (isJsonObject(event.response)) {
        const { output: _, ...rest } = event.response;
        envelope = { ...envelope, ...rest };
        return undefined;
      }
      const streamed = isJsonObject(event.item) ? pushItem(event, event.item) : pushText(event);
      for (const id of [event.item_id, streamed?.item.id]) if (streamed && typeof id === 'string') byId.set(id, streamed);
      return streamed;
    },
    response() {
      const output = items
        .filter(({ item }) => typeof item.type === 'string')
        .map(({ item }, position) => normalizeItem(item, envelope.id, position));
      return { object: 'response', ...envelope, output };
    },
  };
}
