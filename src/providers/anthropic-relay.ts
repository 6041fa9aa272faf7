import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { CallVisibility, Reply, StreamRelay, ToolCall } from './adapter.ts';
import { createMessageAssembler, finishedBlock, type StreamedBlock } from './anthropic-assembler.ts';
import { createBlockView, isCall, isEmptyText, nameOf, resultBlock } from './anthropic-blocks.ts';
import { errorBody, errorTypeOfCode, frame, frameAsItCame, readErrorEvent } from './anthropic-event.ts';
import { composeReply } from './anthropic-reply.ts';
import { markSignature } from './anthropic-thinking.ts';
import { readCallArguments } from './call-arguments.ts';
import { parseEvent } from './parse-event.ts';

/** An event name that can stand in a line of its own. */
const EVENT_NAME = /^[\w.-]+$/;

/** Whether a delta gives a text its first words. */
const opensText = (delta: JsonObject): boolean => delta.type !== 'text_delta' || (typeof delta.text === 'string' && delta.text !== '');

/** Relays the streams of several rounds as one message: one start, gapless block indices, one closing delta with all usage, one stop. */
export function createAnthropicRelay(
  _request: JsonObject,
  visibility: CallVisibility,
  onCallReady: (call: ToolCall) => void = () => {},
): StreamRelay {
  let assembler = createMessageAssembler();
  let view = createBlockView(visibility);
  let hiddenBeforeRound = false;
  /** True once something that the client sees does not belong to the reply, since the provider began anew. */
  let hasRemains = false;
  let begun = false;
  let nextIndex = 0;
  let lastDelta: JsonObject = {};
  let reportedType: string | undefined;
  /** Blocks that the client sees open or has seen, by their index there. */
  let shown = new Map<StreamedBlock, number>();
  /** Texts that have said nothing so far; the client sees them from their first words on. */
  let silent = new Map<StreamedBlock, JsonObject>();
  const announced = new WeakSet<StreamedBlock>();

  function open(streamed: StreamedBlock, block: JsonObject): string {
    const index = nextIndex;
    nextIndex += 1;
    shown.set(streamed, index);
    return frame({ type: 'content_block_start', index, content_block: block });
  }

  function close(streamed: StreamedBlock): string {
    const index = shown.get(streamed);
    silent.delete(streamed);
    return index === undefined ? '' : frame({ type: 'content_block_stop', index });
  }

  function startBlock(streamed: StreamedBlock): string {
    const block = view.show(streamed.block);
    if (block === undefined) return '';
    if (!isEmptyText(block)) return open(streamed, block);
    silent.set(streamed, block);
    return '';
  }

  function announce(streamed: StreamedBlock): void {
    const block = finishedBlock(streamed);
    if (announced.has(streamed) || !isCall(block) || !visibility.isHidden(nameOf(block))) return;
    announced.add(streamed);
    onCallReady({ id: String(block.id), name: nameOf(block), arguments: readCallArguments(block.input) });
  }

  function relayDelta(streamed: StreamedBlock, event: JsonObject, data: string): string {
    const { delta } = event;
    if (!isJsonObject(delta)) return '';
    const waiting = silent.get(streamed);
    if (waiting !== undefined && !opensText(delta)) return '';
    silent.delete(streamed);
    const opening = waiting === undefined ? '' : open(streamed, waiting);
    const index = shown.get(streamed);
    if (index === undefined) return opening;
    const isMarked =
      delta.type === 'signature_delta' && typeof delta.signature === 'string' && delta.signature !== '' && view.marksThinking;
    if (isMarked) return opening + frame({ ...event, index, delta: { ...delta, signature: markSignature(delta.signature as string) } });
    return opening + (index === event.index ? frameAsItCame(event, data) : frame({ ...event, index }));
  }

  /** Ends what the client sees of a message that the provider gave up. Throws when a call is among it, since that cannot be taken back. */
  function abandonMessage(): string {
    const remains = [...shown.keys()];
    if (remains.some(({ block }) => isCall(block))) {
      throw new AppError('upstream_invalid', 'The model provider began its reply anew after it had called a tool');
    }
    hasRemains ||= remains.length > 0;
    return remains
      .filter(({ closed }) => !closed)
      .map((streamed) => {
        const delta = { type: 'signature_delta', signature: markSignature('') };
        const signature = { type: 'content_block_delta', index: shown.get(streamed) as number, delta };
        return (streamed.block.type === 'thinking' ? frame(signature) : '') + close(streamed);
      })
      .join('');
  }

  function beginRound(): void {
    shown = new Map();
    silent = new Map();
    lastDelta = {};
    view = createBlockView(visibility, { afterHidden: hiddenBeforeRound, afterRemains: hasRemains });
  }

  function relayStart(event: JsonObject, data: string): string {
    const { message } = event;
    if (!isJsonObject(message)) throw new AppError('upstream_invalid', 'The model provider sent a message_start without a message');
    let text = abandonMessage();
    beginRound();
    assembler.push(event);
    if (!begun) {
      const isEmpty = assembler.blocks.length === 0 && (message.stop_reason ?? null) === null;
      text += isEmpty ? frameAsItCame(event, data) : frame({ ...event, message: { ...message, content: [], stop_reason: null } });
      begun = true;
    }
    // Blocks that are there from the start come whole.
    for (const streamed of assembler.blocks) {
      text += startBlock(streamed) + close(streamed);
      announce(streamed);
    }
    return text;
  }

  function relayEnd(): string {
    const open = assembler.blocks.filter(({ closed }) => !closed);
    for (const streamed of assembler.blocks) announce(streamed);
    return open.map(close).join('');
  }

  /** Events that we do not know are the client's to judge, unless they tell of a block that it does not see. */
  function relayOther(event: JsonObject, data: string, streamed: StreamedBlock | undefined): string {
    if (typeof event.type !== 'string' || !EVENT_NAME.test(event.type)) return '';
    if (!('index' in event)) return frameAsItCame(event, data);
    const index = streamed && shown.get(streamed);
    return index === undefined ? '' : frame({ ...event, index });
  }

  function relayEvent(event: JsonObject, data: string): string {
    if (event.type === 'ping') return frameAsItCame(event, data);
    if (assembler.ended) return '';
    if (event.type === 'message_start') return relayStart(event, data);
    if (!assembler.begun) throw new AppError('upstream_invalid', 'The model provider sent a stream that does not begin with message_start');
    const streamed = assembler.push(event);
    switch (event.type) {
      case 'content_block_start':
        if (streamed === undefined) throw new AppError('upstream_invalid', 'The model provider sent a content_block_start without a block');
        return startBlock(streamed);
      case 'content_block_delta':
        if (streamed) return relayDelta(streamed, event, data);
        if (assembler.blocks.some(({ index }) => index === event.index)) return '';
        throw new AppError('upstream_invalid', 'The model provider sent a content_block_delta without its content_block_start');
      case 'content_block_stop':
        if (streamed) announce(streamed);
        return streamed ? close(streamed) : '';
      case 'message_delta':
        lastDelta = event;
        return '';
      case 'message_stop':
        return relayEnd();
      default:
        return relayOther(event, data, streamed);
    }
  }

  return {
    push(data) {
      // Not of this API, but some that imitate it end like this.
      if (data === '[DONE]') return '';
      const event = parseEvent(data);
      const reported = readErrorEvent(event);
      if (reported) {
        reportedType = reported.type;
        throw new AppError('upstream_failed', reported.message);
      }
      return relayEvent(event, data);
    },
    isOver: () => assembler.ended,
    endRound() {
      if (!assembler.ended) throw new AppError('upstream_incomplete', "The model provider's stream ended early");
      const response = assembler.response();
      assembler = createMessageAssembler();
      hiddenBeforeRound = view.afterHidden;
      shown = new Map();
      return { response, text: '' };
    },
    finish(reply: Reply) {
      const { usage, stop_reason: reason, stop_sequence: sequence = null, omniroute = null } = composeReply(reply, visibility);
      const results = reply.inlineResults.map((result, position) => {
        const index = nextIndex + position;
        const start = { type: 'content_block_start', index, content_block: resultBlock(result) };
        return frame(start) + frame({ type: 'content_block_stop', index });
      });
      const delta = { ...(isJsonObject(lastDelta.delta) && lastDelta.delta), stop_reason: reason ?? null, stop_sequence: sequence };
      const end = { ...lastDelta, type: 'message_delta', delta, usage: usage ?? { output_tokens: 0 } };
      return results.join('') + frame(end) + frame({ type: 'message_stop', omniroute });
    },
    fail: ({ code, message }) =>
      frame(errorBody(code === 'upstream_failed' && reportedType ? reportedType : errorTypeOfCode(code), message)),
  };
}
