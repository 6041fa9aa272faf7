import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { CallVisibility, ToolCall } from './adapter.ts';
import type { ResponsesAssembler, StreamedItem } from './openai-responses-assembler.ts';
import { markItemId } from './openai-responses-echo.ts';
import type { EventWriter } from './openai-responses-events.ts';
import { callNameOf, isPendingCall, normalizeItem } from './openai-responses-items.ts';
import { mayBeWrapper, readCalls } from './openai-responses-parallel.ts';
import { followsHiddenCall, showItem } from './openai-responses-reply.ts';

/** Relays the items of all rounds: hidden calls are left out, the others numbered without gaps. */
export interface ItemRelay {
  startRound(assembler: ResponsesAssembler): void;
  /** Takes an event that tells of an item; returns what the client gets of it. */
  push(streamed: StreamedItem, event: JsonObject, data: string): string;
  /** Ends a round: what was held back, and what came with the end alone. */
  endRound(): string;
  /** Shows an item that is there as a whole. */
  show(item: JsonObject): string;
  /** What the client has been shown, by its index. */
  shown(): JsonObject[];
}

/** How the client sees an item. It is held back until it is clear whether it may be seen. */
interface View {
  state: 'held' | 'hidden' | 'shown';
  held: { event: JsonObject; data: string }[];
  index: number;
  isMarked: boolean;
  isOpen: boolean;
  isDone: boolean;
  isAnnounced: boolean;
}

/** An item as it looks before anything of it has been said. */
function emptied(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'function_call':
      return { ...item, arguments: '', status: 'in_progress' };
    case 'message':
      return { ...item, content: [], status: 'in_progress' };
    case 'reasoning':
      return { ...item, summary: [] };
    default:
      return item;
  }
}

export interface ItemRelayOptions {
  writer: EventWriter;
  /** Has to give one call the same id each time. */
  visibility: CallVisibility;
  onCallReady(call: ToolCall): void;
}

export function createItemRelay({ writer, visibility, onCallReady }: ItemRelayOptions): ItemRelay {
  const shown: JsonObject[] = [];
  const views = new Map<StreamedItem, View>();
  let assembler: ResponsesAssembler;
  let round = 0;
  let hiddenSeen = false;
  /** Where the first item of this round that the client sees has its place. */
  let roundStart = 0;

  const toolsNow = (): JsonValue | undefined => assembler.envelope.tools;
  const normalized = (item: JsonObject, streamed: StreamedItem): JsonObject =>
    normalizeItem(item, assembler.envelope.id, assembler.items.indexOf(streamed));

  function stateOf(item: JsonObject, isComplete: boolean): View['state'] {
    if (!isPendingCall(item)) return 'shown';
    if (!isComplete && item.type === 'function_call' && (callNameOf(item) === '' || mayBeWrapper(item, toolsNow()))) return 'held';
    return readCalls(item, toolsNow()).some(({ name }) => visibility.isHidden(name)) ? 'hidden' : 'shown';
  }

  const isMarkNeeded = (item: JsonObject, index: number): boolean =>
    round > 1 && index === roundStart && followsHiddenCall(item, shown[index - 1]);
  const marked = (item: JsonObject): JsonObject => ({ ...item, id: markItemId(String(item.id)) });

  /** The item as the client sees it from now on. */
  function present({ index, isMarked }: View, item: JsonObject): JsonObject {
    const [visible = item] = showItem(item, toolsNow(), visibility, hiddenSeen || round > 1);
    const presented = isMarked && typeof visible.id === 'string' ? marked(visible) : visible;
    shown[index] = presented;
    return presented;
  }

  function relayEvent(view: View, streamed: StreamedItem, event: JsonObject, data: string): string {
    const { index } = view;
    const isBeginning = event.type === 'response.output_item.added';
    if (isBeginning && view.isOpen) return '';
    const opening = view.isOpen || isBeginning ? '' : openItem(view, emptied(normalized(streamed.item, streamed)));
    view.isOpen = true;
    if (event.type === 'response.output_item.done') view.isDone = true;
    const item = isJsonObject(event.item) ? present(view, normalized(event.item, streamed)) : undefined;
    const itemId = view.isMarked && typeof event.item_id === 'string' ? markItemId(event.item_id) : event.item_id;
    if (event.output_index === index && item === event.item && itemId === event.item_id) return opening + writer.write(event, data);
    return (
      opening + writer.write({ ...event, output_index: index, ...(item && { item }), ...(itemId !== undefined && { item_id: itemId }) })
    );
  }

  function openItem(view: View, item: JsonObject): string {
    if (typeof item.type !== 'string') return '';
    return writer.write({ type: 'response.output_item.added', output_index: view.index, item: present(view, item) });
  }

  function show(whole: JsonObject): string {
    const index = shown.length;
    const item = isMarkNeeded(whole, index) ? marked(whole) : whole;
    shown.push(item);
    const { id, arguments: text } = item;
    const place = { ...(id !== undefined && { item_id: id }), output_index: index };
    const isCall = item.type === 'function_call' && text !== undefined;
    return [
      { type: 'response.output_item.added', output_index: index, item: emptied(item) },
      ...(isCall ? [{ type: 'response.function_call_arguments.delta', ...place, delta: text }] : []),
      ...(isCall ? [{ type: 'response.function_call_arguments.done', ...place, arguments: text }] : []),
      { type: 'response.output_item.done', output_index: index, item },
    ]
      .map((event) => writer.write(event))
      .join('');
  }

  /** What the client may see of an item that is there as a whole. */
  function showVisible(item: JsonObject): string {
    if (stateOf(item, true) === 'hidden') hiddenSeen = true;
    return showItem(item, toolsNow(), visibility, hiddenSeen || round > 1)
      .map(show)
      .join('');
  }

  /** Decides on an item that is held back, and relays what the client may see of it. */
  function settle(view: View, streamed: StreamedItem, isComplete: boolean): string {
    const item = normalized(streamed.item, streamed);
    view.state = stateOf(item, isComplete);
    if (view.state === 'held') return '';
    if (view.state === 'hidden') return showVisible(item);
    const { held } = view;
    view.held = [];
    view.index = shown.length;
    view.isMarked = isMarkNeeded(item, view.index);
    shown.push(item);
    return held.map(({ event, data }) => relayEvent(view, streamed, event, data)).join('');
  }

  /** Tells of the hidden calls of an item, once and when it is complete; a call that was cut is none. */
  function announce(view: View, item: JsonObject): void {
    if (view.isAnnounced || item.status === 'incomplete') return;
    view.isAnnounced = true;
    for (const call of readCalls(item, toolsNow())) if (visibility.isHidden(call.name)) onCallReady(call);
  }

  /** What a provider left out of an item's events, once its reply has ended. */
  function finishItem(streamed: StreamedItem): string {
    const item = normalized(streamed.item, streamed);
    const view = views.get(streamed);
    if (view === undefined) return showVisible(item);
    const text = view.state === 'held' ? settle(view, streamed, true) : '';
    if (view.state !== 'shown' || view.isDone || typeof item.type !== 'string') return text;
    const whole = present(view, item);
    if (assembler.envelope.status !== 'completed') return text;
    return text + writer.write({ type: 'response.output_item.done', output_index: view.index, item: whole });
  }

  return {
    startRound(next) {
      assembler = next;
      views.clear();
      round += 1;
      roundStart = shown.length;
    },
    push(streamed, event, data) {
      let view = views.get(streamed);
      if (view === undefined) {
        view = { state: 'held', held: [], index: -1, isMarked: false, isOpen: false, isDone: false, isAnnounced: false };
        views.set(streamed, view);
      }
      const isComplete = streamed.done || event.type === 'response.function_call_arguments.done';
      let text = '';
      if (view.state === 'held') {
        view.held.push({ event, data });
        text = settle(view, streamed, streamed.done || (isComplete && callNameOf(streamed.item) !== ''));
      } else if (view.state === 'shown') text = relayEvent(view, streamed, event, data);
      if (view.state === 'hidden' && isComplete) announce(view, normalized(streamed.item, streamed));
      return text;
    },
    endRound: () => assembler.items.map(finishItem).join(''),
    show,
    shown() {
      for (const [streamed, view] of views) {
        if (view.state === 'shown' && !view.isDone) present(view, normalized(streamed.item, streamed));
      }
      return [...shown];
    },
  };
}
