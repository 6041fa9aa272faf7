import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import { candidateOf, type GeminiCall, isEmptyText, namedCallOf, synthesizeCallId } from './gemini-calls.ts';
import { objectOf, repeated, withField, withoutField } from './gemini-fields.ts';
import { createArgumentFolder } from './gemini-partial-args.ts';
import { isBlocked } from './gemini-reply.ts';

/** A call of a streamed reply. */
export interface StreamedCall extends GeminiCall {
  /** What has come of its arguments. */
  args: JsonValue | undefined;
  /** True when no more of them can come. */
  complete: boolean;
}

/** A part of a chunk. Only the first piece of a call names it; later ones hold more of its arguments. */
export interface StreamedPart {
  part: JsonObject;
  call?: StreamedCall;
  isFirst: boolean;
}

/** Folds the chunks of one streamed reply into the body that a plain call would have given. */
export interface GeminiAssembler {
  /** Takes a chunk; returns its parts. Throws an AppError when a piece of a call belongs to none. */
  push(chunk: JsonObject): StreamedPart[];
  readonly calls: readonly StreamedCall[];
  /** True when the reply has come to its end. */
  readonly ended: boolean;
  response(): JsonObject;
}

const isPlainText = (part: JsonObject): part is JsonObject & { text: string } =>
  typeof part.text === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

export function createGeminiAssembler(): GeminiAssembler {
  const calls: StreamedCall[] = [];
  const parts: JsonObject[] = [];
  let envelope: JsonObject = {};
  let candidate: JsonObject | undefined;
  let content: JsonObject | undefined;
  let usage: JsonObject | undefined;
  /** The call whose arguments are coming in pieces. */
  let open: { call: StreamedCall; take(part: JsonObject, partialArgs: JsonValue | undefined): void } | undefined;

  function close(): void {
    if (open) open.call.complete = true;
    open = undefined;
  }

  function beginStreamed(call: StreamedCall, part: JsonObject, named: JsonObject): void {
    const { partialArgs, willContinue, ...rest } = named;
    const folder = createArgumentFolder(isJsonObject(named.args) ? named.args : {});
    const slot = parts.push(withField(part, 'functionCall', { ...rest, args: folder.args })) - 1;
    call.args = folder.args;
    open = {
      call,
      take(later, pieces) {
        // A text that belongs to a signature is its own part, so what comes beside the pieces belongs to this one.
        parts[slot] = { ...parts[slot], ...withoutField(later, 'functionCall') };
        for (const piece of objectsOf(pieces)) folder.fold(piece);
      },
    };
    open.take({}, partialArgs);
    if (willContinue !== true) close();
  }

  function begin(part: JsonObject, named: JsonObject & { name: string }): StreamedPart {
    close();
    const id = typeof named.id === 'string' && named.id !== '' ? named.id : synthesizeCallId(envelope.responseId, calls.length);
    const isStreamed = named.partialArgs !== undefined || named.willContinue === true;
    const call: StreamedCall = { id, name: named.name, args: named.args, complete: !isStreamed };
    calls.push(call);
    if (isStreamed) beginStreamed(call, part, named);
    else parts.push(part);
    return { part, call, isFirst: true };
  }

  function takePiece(part: JsonObject, piece: JsonObject): StreamedPart[] {
    const isEnd = piece.partialArgs === undefined && piece.willContinue !== true;
    if (open === undefined) {
      if (isEnd) return [];
      throw new AppError('upstream_invalid', 'The model provider streamed arguments that belong to no call');
    }
    const { call, take } = open;
    take(part, piece.partialArgs);
    if (isEnd) close();
    return [{ part, call, isFirst: false }];
  }

  function takePart(part: JsonObject): StreamedPart[] {
    const named = namedCallOf(part);
    if (named) return [begin(part, named)];
    const piece = objectOf(part, 'functionCall');
    if (piece) return takePiece(part, piece);
    const before = parts.at(-1);
    if (before && isPlainText(before) && isPlainText(part) && before.thought === part.thought) {
      parts[parts.length - 1] = { ...before, text: before.text + part.text };
    } else if (!isEmptyText(part)) parts.push(part);
    return [{ part, isFirst: true }];
  }

  const hasEnded = () => (candidate?.finishReason ?? null) !== null || isBlocked(envelope);

  return {
    calls,
    get ended() {
      return hasEnded();
    },
    push(chunk) {
      const { candidates: _, usageMetadata, ...rest } = chunk;
      const responseId = envelope.responseId ?? rest.responseId;
      envelope = { ...envelope, ...rest, ...(responseId !== undefined && { responseId }) };
      if (isJsonObject(usageMetadata)) usage = { ...usage, ...usageMetadata };
      const said = candidateOf(chunk);
      candidate = said ? { ...candidate, ...said } : candidate;
      const spoken = isJsonObject(said?.content) ? said.content : {};
      if (said?.content !== undefined) content = { ...content, ...spoken };
      const taken = repeated(spoken.parts).flatMap(takePart);
      if (hasEnded()) close();
      return taken;
    },
    response: () => ({
      ...(candidate && { candidates: [{ ...candidate, ...(content && { content: { ...content, role: 'model', parts } }) }] }),
      ...(usage && { usageMetadata: usage }),
      ...envelope,
    }),
  };
}
