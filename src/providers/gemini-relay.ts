import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { CallVisibility, Reply, StreamRelay, ToolCall } from './adapter.ts';
import { readCallArguments } from './call-arguments.ts';
import { createGeminiAssembler, type StreamedCall, type StreamedPart } from './gemini-assembler.ts';
import { candidateOf, createPartView, isEmptyText } from './gemini-calls.ts';
import { streamErrorBody } from './gemini-error.ts';
import type { ChunkWriter } from './gemini-framing.ts';
import { composeReply, identityOf, resultPart } from './gemini-reply.ts';
import { parseEvent } from './parse-event.ts';

/** Relays Gemini streams of several rounds as one: one identity, one finish, one usage. */
export function createGeminiRelay(
  writer: ChunkWriter,
  visibility: CallVisibility,
  onCallReady: (call: ToolCall) => void = () => {},
): StreamRelay {
  const view = createPartView(visibility);
  const shownCalls = new Set<StreamedCall>();
  let assembler = createGeminiAssembler();
  let identity: JsonObject | undefined;
  let announced = 0;
  /** The status that the provider named for a failure of its own. */
  let reportedStatus: number | undefined;

  function parseChunk(data: string): JsonObject {
    const chunk = parseEvent(data);
    if (!isJsonObject(chunk.error)) return chunk;
    const { message, code } = chunk.error;
    if (typeof code === 'number' && code >= 400 && code < 600) reportedStatus = code;
    throw new AppError('upstream_failed', typeof message === 'string' ? message : 'The model provider reported an error');
  }

  /** What the client sees of a part. The pieces of a call are told apart by their order alone, so those of hidden ones go with it. */
  function showPart({ part, call, isFirst }: StreamedPart): JsonObject[] {
    if (call && !isFirst) return shownCalls.has(call) ? [part] : [];
    if (isEmptyText(part)) return [];
    const shown = view.show({ part, ...(call && { call }) });
    if (shown === undefined) return [];
    if (call) shownCalls.add(call);
    return [shown];
  }

  function announceCalls(): void {
    for (; assembler.calls[announced]?.complete; announced += 1) {
      const { id, name, args } = assembler.calls[announced] as StreamedCall;
      if (visibility.isHidden(name)) onCallReady({ id, name, arguments: readCallArguments(args) });
    }
  }

  /** The chunk as the client sees it. What tells of the end is held until all rounds are over. */
  function showChunk(chunk: JsonObject, parts: JsonObject[]): JsonObject | undefined {
    const { candidates: _, usageMetadata: __, promptFeedback: ___, ...rest } = chunk;
    const { content, finishReason, index, ...more } = candidateOf(chunk) ?? {};
    const added = finishReason === undefined || finishReason === null ? more : {};
    if (parts.length === 0 && Object.keys(added).length === 0) return undefined;
    const said = { ...(isJsonObject(content) && content), role: 'model', parts };
    return {
      candidates: [{ ...(parts.length > 0 && { content: said }), ...added, ...(index !== undefined && { index }) }],
      ...rest,
      ...identity,
    };
  }

  return {
    push(data) {
      if (data === '[DONE]') return '';
      const chunk = parseChunk(data);
      identity ??= identityOf(chunk);
      const shown = showChunk(chunk, assembler.push(chunk).flatMap(showPart));
      announceCalls();
      return (shown ? writer.write(shown) : '') + writer.rest();
    },
    // The API marks no event as the last one: usage may follow the finish reason.
    isOver: () => false,
    endRound() {
      if (!assembler.ended) throw new AppError('upstream_incomplete', "The model provider's stream ended early");
      const response = assembler.response();
      assembler = createGeminiAssembler();
      announced = 0;
      view.startRound();
      return { response, text: '' };
    },
    finish(reply: Reply) {
      const body = composeReply(reply, visibility);
      const candidate = candidateOf(body);
      const parts = reply.inlineResults.length > 0 ? reply.inlineResults.map(resultPart) : [{ text: '' }];
      const last = { ...candidate, content: { role: 'model', parts } };
      return writer.write({ ...body, ...(candidate && { candidates: [last] }) }, true);
    },
    fail: (error) => writer.write(streamErrorBody(error, reportedStatus), true),
  };
}
