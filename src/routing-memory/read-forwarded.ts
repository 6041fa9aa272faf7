import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { usageIn } from './token-counts.ts';

/** What is read of a reply. As much may have to be kept for a client that is slower than the provider, so that it is not more. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

export interface ForwardedReply {
  /** Null when the reply was not read to its end, or does not tell. */
  usage: JsonObject | null;
  /** Whether its end was seen. */
  complete: boolean;
  /** Whether a stream told of an error. */
  failed: boolean;
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

const tellsOfError = (event: JsonValue): boolean =>
  isJsonObject(event) && (isJsonObject(event.error) || event.type === 'error' || event.type === 'response.failed');

/** Reads a copy of a reply that goes to the client as it comes. Resolves, with what was seen until then, when it breaks off or the signal fires. */
export async function readForwarded(
  body: ReadableStream<Uint8Array>,
  isEventStream: boolean,
  signal: AbortSignal,
): Promise<ForwardedReply> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', stop);
  const decoder = new TextDecoder();
  let usage: JsonObject | null = null;
  let failed = false;
  let text = '';
  const parser = createParser({
    onEvent({ data }) {
      // Nearly all events are of no interest, and to look for a word is cheaper than to parse.
      if (!/usage|error|failed/.test(data)) return;
      const event = parseJson(data);
      failed ||= tellsOfError(event);
      const told = usageIn(event);
      // Anthropic tells of the input at the beginning and of the output at the end.
      if (told) usage = { ...usage, ...told };
    },
  });
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_READ_BYTES) {
        stop();
        return { usage: null, complete: false, failed };
      }
      const piece = decoder.decode(value, { stream: true });
      if (isEventStream) parser.feed(piece);
      else text += piece;
    }
  } catch {
    return { usage: null, complete: false, failed };
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (isEventStream) parser.feed('\n\n');
  return { usage: isEventStream ? usage : usageIn(parseJson(text)), complete: !signal.aborted, failed };
}
